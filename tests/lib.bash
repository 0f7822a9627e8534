# SPDX-License-Identifier: GPL-3.0-or-later
# Helpers of all bats files.  Everything that a test creates lies below $WORK or is a loop
# device made by loop_new; common_teardown removes both, also after a failure.

: "${JBDLAB:?set JBDLAB to the program under test}"
export BLKID_FILE=/dev/null
MKE2FS_CONFIG=$(realpath "$(dirname "${BASH_SOURCE[0]}")/mke2fs.conf")
export MKE2FS_CONFIG
PATH=$PATH:/usr/sbin:/sbin

# Percent that figures measured on disk models may be off beyond what is claimed: a test
# shall find faults, not a busy machine. "make truth" allows none.
SLACK=${SLACK:-20}

common_setup() {
    WORK=$(mktemp -d "${TMPDIR:-/tmp}/jbdlab-test.XXXXXX")
    LOOPS=()
}

common_teardown() {
    local target device
    # Mounts below $WORK, the deepest first.
    awk -v w="$WORK/" 'index($5, w) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
        while read -r target; do
            fsfreeze -u "$target" 2>/dev/null || : # of mount_still
            # What was killed in it may take a moment to end.
            until_done 30 umount "$target"
        done
    for device in "${LOOPS[@]}"; do
        loop_reset "$device"
        losetup -d "$device"
    done
    rm -rf "$WORK"
}

# loop_reset DEVICE: a loop device keeps its partitions and its settings for whoever gets
# it next.
loop_reset() {
    local sys=/sys/block/${1##*/} partition
    for partition in "$sys/${1##*/}"p*/partition; do
        [ ! -e "$partition" ] || until_done 20 delpart "$1" "$(cat "$partition")" || :
    done
    ! [ -w "$sys/queue/write_cache" ] || echo "write back" >"$sys/queue/write_cache" || :
}

# loop_new VARIABLE SIZE: a fresh loop device over a sparse file.
loop_new() {
    local file device
    file=$WORK/$1.img
    truncate -s "$2" "$file"
    device=$(losetup -f --show "$file")
    LOOPS+=("$device")
    loop_reset "$device"
    printf -v "$1" %s "$device"
}

# until_done SECONDS COMMAND...: tried until it succeeds: a state that somebody else brings
# about, or what the mount namespace of another program may still hold for a while.  The
# seconds are for a machine that is busy, so there may be many.
until_done() {
    local end=$((SECONDS + $1))
    until "${@:2}" 2>"$WORK/until_done"; do
        [ $SECONDS -lt $end ] || { echo "not in time: ${*:2}"; cat "$WORK/until_done"; return 1; }
        sleep 0.05
    done
}

# detach DEVICE...: loop devices that a test takes away before it goes on.  Whoever looks at
# all devices just now delays that.
detach() {
    local device
    for device; do
        losetup -d "$device"
        until_done 60 is_detached "$device"
    done
}

is_detached() {
    [ ! -e "/sys/block/${1#/dev/}/loop/backing_file" ]
}

# For until_done: has_lines FILE COUNT, has_ended PID.
has_lines() {
    [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]
}

has_ended() {
    ! grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$1/status"
}

# catches_signals PID: it is our program, and has a handler for SIGINT.
catches_signals() {
    [[ "$(readlink "/proc/$1/exe")" == */jbdlab ]] &&
        grep -q '^SigCgt:.*[2367abef]$' "/proc/$1/status"
}

# free_ports COUNT: of TCP, one a line.
free_ports() {
    perl -MIO::Socket::INET -e 'my @all = map {
            IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1) or die } 1 .. $ARGV[0];
        print $_->sockport, "\n" for @all' "$1"
}

# listens PORT: somebody does, at any address.
listens() {
    grep -qiE "^ *[0-9]+: [0-9A-F]+:$(printf %04x "$1") [0-9A-F]+:0000 0A" /proc/net/tcp /proc/net/tcp6
}

# until_written DIRECTORY: until a workload has written something to a file of its own there.
until_written() {
    until_done 60 has_written "$1"
}

has_written() {
    find "$1" -path '*/_jbdlab*' -type f -size +0 -print -quit | grep -q .
}

# fill_up DIRECTORY: no block of that file system is left, whoever else writes to it.
fill_up() {
    fallocate -l "$(df --output=avail -B1 "$1" | tail -n 1)" "$1/fill" 2>/dev/null || true
    # What others have given back meanwhile, and what is kept for root.
    dd if=/dev/zero of="$1/fill.rest" bs=64k conv=fsync status=none 2>/dev/null || true
    dd if=/dev/zero of="$1/fill.last" bs=512 oflag=dsync status=none 2>/dev/null || true
}

# held_program: $WORK/held, and $HELD, the section of a workload that runs it.  The N-th time
# it lasts as long as there is a file $WORK/hold.N: what must not end before the test says so
# does not, however fast or slow a machine is.
held_program() {
    cat >"$WORK/held" <<END
#!/bin/sh
echo >>"$WORK/ran"
while [ -e "$WORK/hold.\$(wc -l <"$WORK/ran")" ]; do sleep 0.05; done
END
    chmod +x "$WORK/held"
    : >"$WORK/ran"
    HELD="[workload held]
type = command
exec = $WORK/held
metric.time = s lower elapsed"
}

# hold N..., until_held N: its N-th time.  release: all of them.
hold() {
    local n
    for n; do : >"$WORK/hold.$n"; done
}

until_held() {
    until_done 120 has_lines "$WORK/ran" "$1"
}

release() {
    rm -f "$WORK"/hold.*
}

# disk_section NAME SIZE [MODEL]: its section of an experiment file, kept in $WORK.
disk_section() {
    printf '[disk %s]\nsize = %s\ndirectory = %s\n' "$1" "$2" "$WORK"
    ! [ "${3-}" ] || printf 'model = %s\n' "$3"
}

# destroy_disk NAME: if there is such a scratch disk.
destroy_disk() {
    ! timeout 30 "$JBDLAB" scratch list --json | grep -qF "\"$1\"" ||
        until_done 60 timeout 30 "$JBDLAB" scratch destroy "$1" --quiet
}

# lease DEVICE: a whole loop device.
lease() {
    local file
    file=$(losetup -n -O BACK-FILE "$1")
    timeout 60 "$JBDLAB" scratch lease "$1" --yes --serial "${file: -8}" --quiet
}

# drop_leases: of all that lies in $WORK, also when its disk is gone.
drop_leases() {
    grep -lsF "\"$WORK/" /var/lib/jbdlab/leases/* | xargs -r -d '\n' rm --
}

# kill_run PID: kill -9, and waits until its child and what that has begun, which die with
# it, are gone, too.
kill_run() {
    local child
    child=$(pgrep -P "$1" || true)
    [ -z "$child" ] || child+=" $(pgrep -P "$(paste -sd, <<<"$child")" || true)"
    kill -KILL "$1" 2>/dev/null || true # it may have just ended
    for child in $child; do
        until_done 60 has_ended "$child"
    done
}

# mount_still DEVICE DIRECTORY: mounted, and frozen: the kernel does not write either, which
# it else does when it likes.
mount_still() {
    mount "$1" "$2" && fsfreeze -f "$2"
}

unmount_still() {
    fsfreeze -u "$1" && umount "$1"
}

need_root() {
    [ "$(id -u)" = 0 ] || skip "needs root"
}

need_loop() {
    need_root
    local device
    device=$(losetup -f 2>/dev/null) || skip "needs loop devices"
    [ -b "$device" ] || skip "needs loop devices"
}

# In a chroot whose root is no mount unshare(1) cannot keep mounts from spreading.
need_mount_namespace() {
    need_root
    unshare -m true 2>/dev/null || skip "needs mount namespaces"
}

# Idle time and all time of the processors, in ticks.
processors() {
    awk '/^cpu / { for (i = 2; i <= NF; i++) all += $i; print $5 + $6, all }' /proc/stat
}

# were_calm IDLE ALL: since processors printed these, were they idle for the most part?
were_calm() {
    local idle all
    read -r idle all < <(processors)
    (((idle - $1) * 100 >= (all - $2) * 60))
}

# For a test that measures time: waits up to five seconds until nothing else runs.
need_calm() {
    local i before
    for i in 1 2 3 4 5; do
        before=$(processors)
        sleep 1
        # shellcheck disable=SC2086 # two numbers
        ! were_calm $before || return 0
    done
    skip "the processors are busy with something else"
}

# traced OPTION... PROGRAM...: strace, where it is there and allowed.  What is built with
# AddressSanitizer cannot look for leaks meanwhile.
traced() {
    strace -qq -o /dev/null true 2>/dev/null || skip "needs strace"
    ASAN_OPTIONS=detect_leaks=0 strace "$@"
}

# fsck_clean DEV [JOURNAL]: e2fsck -fn must find nothing at all.
fsck_clean() {
    e2fsck -fn ${2:+-j "$2"} "$1"
}

# fill_volume DIR [COUNT]: files of seeded random content and their checksums in $WORK/sums.
fill_volume() {
    local i n=${2:-60}
    for ((i = 0; i < n; i++)); do
        mkdir -p "$1/d$((i % 7))"
        head -c $((i * 397 % 60000 + 1)) /dev/urandom >"$1/d$((i % 7))/f$i"
    done
    (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum) >"$WORK/sums"
}

# check_files DIR: the files still are what fill_volume wrote.
check_files() {
    (cd "$1" && sha256sum --quiet -c "$WORK/sums")
}

# md_member DEVICE VERSION: the superblock of a member, as include/uapi/linux/raid/md_p.h of
# the kernel has it; mdadm itself makes none without the driver.
md_member() {
    python3 - "$@" <<'END'
import os, struct, sys
device, version = sys.argv[1:]
fd = os.open(device, os.O_RDWR)
size = os.lseek(fd, 0, os.SEEK_END)
if version == "0.90":
    at = size // 65536 * 65536 - 65536
    words = [0xa92b4efc, 0, 90, 0, 0, 0x11111111, 1700000000, 1, size // 1024 - 64, 2, 2, 0,
             0, 0x22222222, 0x33333333, 0x44444444]
    block = struct.pack("<16I", *words).ljust(4096, b"\0")
    block = block[:152] + struct.pack("<I", sum(struct.unpack("<1024I", block)) & 0xffffffff) \
        + block[156:]
else:
    at = {"1.0": (size // 512 - 16) // 8 * 8 * 512, "1.1": 0, "1.2": 4096}[version]
    block = struct.pack("<4I16s32sQIIQII", 0xa92b4efc, 1, 0, 0, b"0123456789abcdef",
                        b"host:test", 1700000000, 1, 0, 8192, 0, 2)
    block = block.ljust(128, b"\0") + struct.pack("<QQQ", 2048, size // 512 - 2048, at // 512)
    block = bytearray(block.ljust(256, b"\0"))
    block[216:220] = struct.pack("<I", sum(struct.unpack("<64I", block)) & 0xffffffff)
os.pwrite(fd, bytes(block), at)
os.fsync(fd)
END
}

# bcache_member DEVICE VERSION: 1 is a backing device, 3 a cache; the superblock of bcache
# with its checksum, which is a CRC-64 of the words behind it.
bcache_member() {
    python3 - "$@" <<'END'
import os, struct, sys
device, version = sys.argv[1], int(sys.argv[2])
magic = bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81")
body = struct.pack("<QQ16s16s16s32sQQ8Q", 8, version, magic, b"0123456789abcdef",
                   b"fedcba9876543210", b"test".ljust(32, b"\0"), 0, 1, *[0] * 8)
body += struct.pack("<Q", 16) + struct.pack("<HHHH", 1, 1, 1, 0) + struct.pack("<IHH", 0, 1, 0)
crc = (1 << 64) - 1
for byte in body:
    crc ^= byte << 56
    for _ in range(8):
        crc = (crc << 1 ^ (0x42f0e1eba9ea3693 if crc >> 63 else 0)) & ((1 << 64) - 1)
crc ^= (1 << 64) - 1
fd = os.open(device, os.O_RDWR)
os.pwrite(fd, (struct.pack("<Q", crc) + body).ljust(4096, b"\0"), 4096)
os.fsync(fd)
END
}
