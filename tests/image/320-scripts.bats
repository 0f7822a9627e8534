# SPDX-License-Identifier: GPL-3.0-or-later
# What scripts/demo prints on standard output is the demonstration and nothing else.

load ../lib

setup() { common_setup; }
teardown() { common_teardown; }

@test "compiling for the demonstration prints nothing on standard output" {
    # A tree with the script, and stand-ins for what it calls.
    mkdir -p "$WORK/tree/scripts" "$WORK/tree/build" "$WORK/bin"
    cp "$BATS_TEST_DIRNAME/../../scripts/demo" "$WORK/tree/scripts/demo"
    printf '#!/bin/sh\necho installing\n' >"$WORK/tree/scripts/deps"
    cat >"$WORK/bin/make" <<'END'
#!/bin/sh
case " $* " in
*" all "*) echo "  CC    x.o" ;;
*" demo "*) echo "== the demonstration" ;;
esac
END
    chmod +x "$WORK/tree/scripts/deps" "$WORK/bin/make"
    PATH=$WORK/bin:$PATH timeout 60 "$WORK/tree/scripts/demo" >"$WORK/out" 2>"$WORK/err"
    [ "$(cat "$WORK/out")" = "== the demonstration" ]
    grep -q '^  CC' "$WORK/err"
    grep -q '^installing' "$WORK/err"
}
