#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Scratch disks: made with and without a model, listed, removed, also when a part of them
# is missing, and refused where they must be.

load ../lib.bash

setup() {
    common_setup
    need_loop
    [ -c /dev/fuse ] || skip "needs /dev/fuse"
    NAME=test-$$-$BATS_TEST_NUMBER
}

teardown() {
    umount "$WORK/mnt" 2>/dev/null || true
    destroy_disk "${NAME:-none}" || true
    common_teardown
}

# create [OPTIONS]: DEV is the device.
create() {
    DEV=$("$JBDLAB" scratch create --name "$NAME" --size 256M --directory "$WORK" "$@")
}

# Fails when the command that follows succeeds.
refute() {
    if "$@"; then
        echo "succeeded: $*"
        return 1
    fi
}

# Process of the disk's model.
model_pid() {
    grep -lzx -- "$NAME" /proc/[0-9]*/cmdline 2>/dev/null | while IFS=/ read -r _ _ pid _; do
        ! grep -qzx model-serve "/proc/$pid/cmdline" 2>/dev/null || echo "$pid"
    done
}

no_model() {
    [ -z "$(model_pid)" ]
}

nothing_left() {
    refute grep "$NAME" /proc/self/mountinfo
    no_model
    refute grep "$NAME" /sys/block/loop*/loop/backing_file
    refute compgen -G "/run/jbdlab/scratch/$NAME*"
    refute compgen -G "/var/lib/jbdlab/scratch/$NAME*"
    refute compgen -G "$WORK/jbdlab-$NAME-*"
}

@test "a disk with a model is a loop device with direct I/O that keeps data" {
    create --model ssd
    [ -b "$DEV" ]
    [ "$(cat "/sys/block/${DEV#/dev/}/loop/dio")" = 1 ]
    [ "$(cat "/sys/block/${DEV#/dev/}/queue/write_cache")" = "write back" ]
    [ "$(blockdev --getsize64 "$DEV")" = $((256 << 20)) ]
    head -c 8M /dev/urandom >"$WORK/data"
    dd if="$WORK/data" of="$DEV" bs=1M seek=100 oflag=direct conv=fsync status=none
    echo 3 >/proc/sys/vm/drop_caches
    dd if="$DEV" bs=1M skip=100 count=8 iflag=direct status=none | cmp - "$WORK/data"
    "$JBDLAB" scratch destroy "$NAME"
    nothing_left
}

@test "whoever reads what our caller writes does not wait for the model" {
    exec 9>"$WORK/inherited"
    create --model ssd
    exec 9>&-
    [ -n "$(model_pid)" ]
    find "/proc/$(model_pid)/fd" -printf '%l\n' >"$WORK/fds"
    cat "$WORK/fds"
    ! grep inherited "$WORK/fds" || false
    "$JBDLAB" scratch destroy "$NAME"
}

@test "a loop device that somebody told to have no write cache passes flushes again" {
    local before
    create --model ssd
    before=$DEV
    echo "write through" >"/sys/block/${DEV#/dev/}/queue/write_cache"
    "$JBDLAB" scratch destroy "$NAME"
    create --model ssd # gets the device that is free, the same one
    [ "$(cat "/sys/block/${DEV#/dev/}/queue/write_cache")" = "write back" ]
    "$JBDLAB" scratch stats "$NAME" --reset >/dev/null
    dd if=/dev/zero of="$DEV" bs=4k count=1 oflag=direct conv=fsync status=none
    [ "$("$JBDLAB" scratch stats "$NAME" | jq .flush.requests)" -ge 1 ]
    echo "write back" >"/sys/block/${before#/dev/}/queue/write_cache"
}

@test "the model's mount is nowhere to be seen, and goes with the loop device" {
    create --model ssd
    refute grep "jbdlab:" /proc/self/mountinfo
    [[ "$(cat "/sys/block/${DEV#/dev/}/loop/backing_file")" == "/jbdlab:jbdlab-$NAME-"* ]]
    detach "$DEV"
    until_done 60 no_model
}

@test "create prints the device and nothing else on standard output" {
    output=$("$JBDLAB" scratch create --name "$NAME" --size 256M \
        --model none --directory "$WORK" 2>/dev/null)
    [[ "$output" =~ ^/dev/loop[0-9]+$ ]]
    "$JBDLAB" scratch destroy "$NAME"
    nothing_left
}

@test "list shows the disk as JSON" {
    create --model hdd-7200,cache=4M
    "$JBDLAB" scratch list --json |
        jq -e --arg name "$NAME" --arg device "$DEV" '.disks[] | select(.name == $name) |
            .device == $device and .model == "hdd-7200,cache=4M" and .running and
            .size_bytes == 268435456'
}

@test "a name in use is refused" {
    create --model none
    run "$JBDLAB" scratch create --name "$NAME" --size 256M --directory "$WORK"
    [ "$status" = 3 ]
    [[ "$output" == *"already"* ]]
    [ -b "$DEV" ]
}

@test "bad words are refused before anything is made" {
    run "$JBDLAB" scratch create --name ../x --size 256M
    [ "$status" = 2 ]
    run "$JBDLAB" scratch create --name "$NAME" --size 256M --model hdd-720
    [ "$status" = 2 ]
    [[ "$output" == *'did you mean "hdd-7200"'* ]]
    run "$JBDLAB" scratch create --name "$NAME" --size 1000
    [ "$status" = 2 ]
    run "$JBDLAB" scratch create --name "$NAME" --size 256M --directory "$WORK/none"
    [ "$status" = 4 ]
    run "$JBDLAB" scratch lisst
    [ "$status" = 2 ]
    [[ "$output" == *'did you mean "list"'* ]]
    run "$JBDLAB" scratch destroy
    [ "$status" = 2 ]
    run "$JBDLAB" scratch destroy "$NAME"
    [ "$status" = 3 ]
    [[ "$output" == *"no scratch disk"* ]]
    nothing_left
}

@test "a mounted disk is not destroyed, and its user is named" {
    create --model ssd
    mkfs.ext4 -q "$DEV"
    mkdir "$WORK/mnt"
    mount "$DEV" "$WORK/mnt"
    run "$JBDLAB" scratch destroy "$NAME"
    [ "$status" = 3 ]
    [[ "$output" == *"$WORK/mnt"* ]]
    echo works >"$WORK/mnt/file"
    sync "$WORK/mnt/file"
    umount "$WORK/mnt"
    "$JBDLAB" scratch destroy "$NAME"
    nothing_left
}

@test "a model that was killed is shown as dead, and everything can be removed" {
    create --model hdd-7200
    kill -9 "$(model_pid)"
    until_done 60 no_model
    run "$JBDLAB" scratch list
    [[ "$output" == *"$NAME"*"model died"* ]]
    "$JBDLAB" scratch destroy "$NAME"
    nothing_left
}

@test "a model that hangs does not hold up destroy" {
    create --model ssd
    kill -STOP "$(model_pid)"
    timeout 30 "$JBDLAB" scratch destroy "$NAME"
    nothing_left
}

@test "destroy works when the loop device is gone" {
    create --model ssd
    detach "$DEV"
    run "$JBDLAB" scratch list
    [[ "$output" == *"$NAME"*"broken"* ]]
    "$JBDLAB" scratch destroy "$NAME"
    nothing_left
}

@test "destroy works after a reboot, when only the record and the data file are there" {
    create --model ssd
    detach "$DEV"
    until_done 60 no_model
    rm -r "/run/jbdlab/scratch/$NAME"
    "$JBDLAB" scratch destroy "$NAME"
    nothing_left
}

@test "destroy works when the data file was removed" {
    create --model none
    rm "$WORK"/jbdlab-"$NAME"-*.disk
    "$JBDLAB" scratch destroy "$NAME"
    nothing_left
}

@test "a damaged record is shown, and what can be found without it is removed" {
    create --model ssd
    echo '{' >"/var/lib/jbdlab/scratch/$NAME.json"
    run "$JBDLAB" scratch list
    [ "$status" = 0 ]
    [[ "$output" == *"$NAME"*"record damaged"* ]]
    run "$JBDLAB" scratch destroy "$NAME"
    [ "$status" = 0 ]
    [[ "$output" == *"jbdlab-$NAME-*.disk, is not removed"* ]]
    rm "$WORK"/jbdlab-"$NAME"-*.disk
    nothing_left
}

@test "a disk of a running experiment is left to it" {
    create --model none
    sleep 300 3>&- &
    owner=$!
    word=$owner:$(cut -d' ' -f22 "/proc/$owner/stat"):$(cat /proc/sys/kernel/random/boot_id)
    record=/var/lib/jbdlab/scratch/$NAME.json
    jq --arg owner "$word" '.owner = $owner' "$record" >"$WORK/record"
    cp "$WORK/record" "$record"
    run "$JBDLAB" scratch destroy "$NAME"
    kill "$owner"
    wait "$owner" || true
    [ "$status" = 3 ]
    [[ "$output" == *"process $owner"* ]]
    "$JBDLAB" scratch destroy "$NAME"
    nothing_left
}

# without PATHS: create where these do not exist.
without() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare -m bash -c '
        mkdir "$WORK/dev"
        mount -t tmpfs none "$WORK/dev"
        cp -a /dev/null /dev/loop* /dev/fuse "$WORK/dev"
        for path in "$@"; do rm "$WORK$path"; done
        mount --bind "$WORK/dev" /dev
        exec "$JBDLAB" scratch create --name "$NAME" --size 16M --model ssd --directory "$WORK"
    ' bash "$@"
}

@test "without FUSE or loop devices one sentence says so" {
    need_mount_namespace
    export JBDLAB NAME WORK
    run without /dev/fuse
    [ "$status" = 3 ]
    [[ "$output" == *"no /dev/fuse"* ]]
    [ "${#lines[@]}" = 1 ]
    nothing_left
    rmdir "$WORK/dev"
    run without /dev/loop-control
    [ "$status" = 3 ]
    [[ "$output" == *"no loop devices"* ]]
    [ "${#lines[@]}" = 1 ]
    nothing_left
}

@test "a full file system is warned of, and a write error reaches the writer" {
    mkdir "$WORK/small"
    mount -t tmpfs -o size=8M none "$WORK/small"
    run "$JBDLAB" scratch create --name "$NAME" --size 64M --model ssd --directory "$WORK/small"
    [ "$status" = 0 ]
    [[ "$output" == *"warning"*"writes will fail"* ]]
    run dd if=/dev/zero of="${lines[-1]}" bs=1M count=32 oflag=direct
    [ "$status" != 0 ]
    "$JBDLAB" scratch destroy "$NAME"
    umount "$WORK/small"
    nothing_left
}

@test "a create that is killed at any moment can be destroyed" {
    for delay in 0 0.002 0.005 0.008 0.012 0.016 0.02 0.03 0.05; do
        "$JBDLAB" scratch create --name "$NAME" --size 256M --model ssd \
            --directory "$WORK" &
        pid=$!
        sleep "$delay"
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" || true
        "$JBDLAB" scratch destroy "$NAME" || [ ! -e "/var/lib/jbdlab/scratch/$NAME.json" ]
        # The model of one that was just made sees a moment later that nobody wants it.
        until_done 60 nothing_left
    done
}

@test "the model outlives the terminal's signals" {
    create --model ssd
    pid=$(model_pid)
    kill -INT "$pid"
    kill -HUP "$pid"
    kill -QUIT "$pid"
    dd if="$DEV" of=/dev/null bs=4k count=1 iflag=direct status=none
    [ "$(cut -d' ' -f6 "/proc/$pid/stat")" != "$(cut -d' ' -f6 /proc/$$/stat)" ] # session
}

@test "counters can be read and reset" {
    create --model hdd-7200
    "$JBDLAB" scratch stats "$NAME" --reset >/dev/null
    dd if=/dev/zero of="$DEV" bs=4k count=10 oflag=direct conv=fsync status=none
    "$JBDLAB" scratch stats "$NAME" --reset >"$WORK/stats"
    jq -e '.write.requests == 10 and .write.bytes == 40960 and .flush.requests >= 1 and
        .destaged_bytes == 40960' "$WORK/stats"
    "$JBDLAB" scratch stats "$NAME" | jq -e '.write.requests == 0'
}

@test "without sysfs no disk is made, for it could not be found again" {
    run timeout 60 unshare -m --propagation private sh -c 'mount -t tmpfs none /sys && exec "$@"' \
        sh "$JBDLAB" scratch create --name "$NAME" --size 32M --directory "$WORK"
    echo "$output"
    [ "$status" = 4 ]
    [[ $output == *"mount sysfs on /sys"* ]]
    nothing_left
    refute compgen -G "$WORK/*$NAME*"
}
