# SPDX-License-Identifier: GPL-3.0-or-later
# What the tests of moves share.  Load after lib.bash.

# Hundreds of moves with all their flushes want disks of memory; where there is too little
# of it (containers), ordinary files do.  Before common_setup.
disks_in_memory() {
    local free
    free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)
    [ "${free:-0}" -lt 400000 ] || export TMPDIR=/dev/shm
}

# traced OPTION... COMMAND...: strace; leaks cannot be looked for meanwhile.
traced() {
    ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 strace -qq "$@"
}

# move VOLUME PLACEMENT [OPTION...]: with the intent log below $WORK.
move() {
    "$JBDLAB" move "$1" --to "$2" --state-dir "$WORK/state" "${@:3}"
}

# moved VOLUME PLACEMENT [OPTION...]: must succeed, and e2fsck must find nothing.
moved() {
    local output journal=
    output=$(move "$@" 2>&1) || { echo "$output"; return 1; }
    case "$2" in
    external=/*) journal=${2#external=} journal=${journal%%,*} ;;
    esac
    fsck_clean "$1" "$journal" >"$WORK/fsck" 2>&1 || { cat "$WORK/fsck"; return 1; }
    no_pending_move
}

# refused VOLUME PLACEMENT SENTENCE [OPTION...]: status 3 and not one byte changed on the
# volume or any device in DEVICES.
refused() {
    unchanged_with_status 3 "$@"
}

# unchanged_with_status STATUS VOLUME PLACEMENT SENTENCE [OPTION...]
unchanged_with_status() {
    local before after output status=0
    before=$(hashes "$2" "${DEVICES[@]}")
    output=$(move "$2" "$3" "${@:5}" 2>&1) || status=$?
    after=$(hashes "$2" "${DEVICES[@]}")
    if [ "$status" != "$1" ] || [[ "$output" != *"$4"* ]]; then
        echo "status $status, not $1, or not the sentence \"$4\":"
        echo "$output"
        return 1
    fi
    [ "$before" = "$after" ] || { echo "bytes were changed"; return 1; }
    no_pending_move
}

# hashes FILE...: of what can be read of them.
hashes() {
    local file
    for file; do
        if [ -f "$file" ] || [ -b "$file" ]; then sha256sum "$file"; fi
    done
}

no_pending_move() {
    [ -z "$(ls -A "$WORK/state/moves" 2>/dev/null)" ] || { echo "an intent log is left"; return 1; }
}

# header VOLUME FIELD: a line of dumpe2fs -h, without its name.
header() {
    dumpe2fs -h "$1" 2>/dev/null | sed -n "s/^$2:[[:space:]]*//p"
}

# journal_blocks VOLUME: physical blocks of inode 8 in order, "first-last" or "block".
journal_blocks() {
    debugfs -R 'stat <8>' "$1" 2>/dev/null | sed -n '/^EXTENTS:/,$p;/^BLOCKS:/,$p' |
        tr ',' '\n' | sed -n 's/.*([0-9][-0-9]*)u\{0,1\}:\([0-9][-0-9]*\).*/\1/p'
}

first_journal_block() {
    journal_blocks "$1" | head -n 1 | cut -d- -f1
}

# is_inline VOLUME | is_none VOLUME | is_external VOLUME DEVICE
is_inline() {
    [ "$(header "$1" 'Journal inode')" = 8 ] && [ -z "$(header "$1" 'Journal device')" ]
}

is_none() {
    [[ " $(header "$1" 'Filesystem features') " != *" has_journal "* ]] &&
        [ -z "$(journal_blocks "$1")" ]
}

is_external() {
    [ -z "$(header "$1" 'Journal inode')" ] && [ -z "$(journal_blocks "$1")" ] &&
        [ "$(header "$1" 'Journal UUID')" = "$(header "$2" 'Filesystem UUID')" ] &&
        [ "$(($(header "$1" 'Journal device')))" = "$(device_number "$2")" ]
}

# device_number DEVICE: as a superblock records it.
device_number() {
    local major minor
    major=$((16#$(stat -c %t "$1"))) minor=$((16#$(stat -c %T "$1")))
    echo $(((minor & 255) | major << 8 | (minor & ~255) << 12))
}

# users DEVICE: UUIDs that a journal device lists, one a line.
users() {
    dumpe2fs -h "$1" 2>/dev/null | sed -n '/^Journal users:/,$p' | grep -oE '[0-9a-f-]{36}' || true
}

# mounts_fine VOLUME [OPTIONS]: by what the superblock says, and can be written.
mounts_fine() {
    mkdir -p "$WORK/mnt"
    mount -t ext4 ${2:+-o "$2"} "$1" "$WORK/mnt" && echo x >"$WORK/mnt/written" &&
        rm "$WORK/mnt/written" && umount "$WORK/mnt"
}
