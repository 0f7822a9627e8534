# SPDX-License-Identifier: GPL-3.0-or-later
# For the bats files that run the examples of README.md and the manual; see examples.py.

REPOSITORY=$BATS_TEST_DIRNAME/../..
DOCUMENTS=("$REPOSITORY/README.md" "$REPOSITORY"/src/man/*.[578])

# Where an example is run: the program is "jbdlab" there, and configs and tests are as in
# the repository.
example_setup() {
    common_setup
    mkdir "$WORK/bin" "$WORK/x"
    ln -s "$JBDLAB" "$WORK/bin/jbdlab"
    ln -s "$(realpath "$REPOSITORY/configs")" "$(realpath "$REPOSITORY/tests")" "$WORK/x"
    PATH=$WORK/bin:$PATH
    export TMPDIR=$WORK JBDLAB_COMMANDS=$REPOSITORY/configs/commands
}

# called DOCUMENTED REAL
called() {
    echo "$1 $2" >>"$WORK/x/names"
}

# prelude: a script before the first command, from standard input.
prelude() {
    cat >>"$WORK/x/prelude"
}

show_example() {
    "$BATS_TEST_DIRNAME/../examples.py" show "$1" "${DOCUMENTS[@]}"
}

# play NAME [STATUS...]: commands may also end with these.
play() {
    echo "${@:2}" >"$WORK/x/statuses"
    timeout 290 "$BATS_TEST_DIRNAME/../examples.py" play "$1" "$WORK/x" "${DOCUMENTS[@]}"
}
