# SPDX-License-Identifier: GPL-3.0-or-later
# A device that does not exist has the same exit status in every command, 3, and nothing
# else is said or done.

load ../lib

setup() { common_setup; }
teardown() { common_teardown; }

refused() {
    run timeout 60 "$JBDLAB" "$@"
    echo "$* -> $status"
    echo "$output"
    [ "$status" = 3 ]
}

@test "no such device: every command refuses" {
    local name
    printf '%s\n' '[volume v]' "device = $WORK/none" '[arm a]' 'journal = none' \
        '[workload dd]' 'type = dd' 'count = 1' >"$WORK/x.ini"
    truncate -s 16M "$WORK/volume"
    mke2fs -q -F -t ext4 "$WORK/volume"
    for name in "$WORK/none" UUID=00000000-1111-2222-3333-444444444444; do
        refused show "$name"
        refused check "$name" --to none
        refused check "$WORK/volume" --to "external=$name"
        refused move "$name" --to none --state-dir "$WORK/state"
        refused move "$name" --to none --remount --state-dir "$WORK/state"
        refused move "$WORK/volume" --to "external=$name" --state-dir "$WORK/state"
        refused recover "$name" --state-dir "$WORK/state"
        if [ "$(id -u)" = 0 ]; then
            refused scratch lease "$name" --yes --serial 12345678
            refused scratch unlease "$name"
            sed -i "s|^device = .*|device = $name|" "$WORK/x.ini"
            refused run "$WORK/x.ini" --yes --output "$WORK/bundle"
        fi
    done
    [ "$(id -u)" != 0 ] || refused scratch destroy no-such-disk
    [ ! -e "$WORK/bundle" ]
}

@test "the candidates for a tag are few, the nearest first, one a line" {
    run timeout 60 "$JBDLAB" show UUID=00000000-1111-2222-3333-444444444444
    [ "$status" = 3 ]
    [ "${#lines[@]}" -le 4 ]
    [ -z "$(awk 'length > 80' <<<"$output")" ]
}
