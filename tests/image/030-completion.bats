# SPDX-License-Identifier: GPL-3.0-or-later
# Completion: what a person gets who types in bash and in zsh, and that no command and no
# option is missing.

load ../lib

setup() {
    common_setup
    mkdir "$WORK/bin" "$WORK/here" "$WORK/here/some-bundle"
    touch "$WORK/here/an-experiment.ini"
    ln -s "$JBDLAB" "$WORK/bin/jbdlab"
    PATH=$WORK/bin:$PATH
}

teardown() { common_teardown; }

# at_prompt KEYS SHELL...: what the line is when KEYS were typed at the prompt of a shell; it
# is printed instead of run.
at_prompt() {
    cd "$WORK/here" || return
    env TERM=vt100 COLUMNS=2000 timeout 130 "$BATS_TEST_DIRNAME/../terminal.py" 120 'READY>' \
        "$1\\x01echo 'typed:' \\rexit\\r" "${@:2}" >"$WORK/screen"
    tr -d '\a' <"$WORK/screen" | tr '\r' '\n' | sed -n 's/^typed: *//p' | tail -n 1
}

# Meta-* inserts all that is possible.
in_bash() {
    jbdlab completion bash >"$WORK/bash"
    printf '%s\n' "PS1='READY>'" "bind 'set enable-bracketed-paste off'" ". '$WORK/bash'" >"$WORK/rc"
    at_prompt "$1" bash --noprofile --rcfile "$WORK/rc" -i
}

in_zsh() {
    mkdir -p "$WORK/functions"
    jbdlab completion zsh >"$WORK/functions/_jbdlab"
    printf '%s\n' "PS1='READY>'" 'unsetopt zle_bracketed_paste' 'bindkey -e' \
        "fpath=('$WORK/functions' \$fpath)" 'autoload -Uz compinit' \
        "compinit -u -d '$WORK/dump'" >"$WORK/.zshrc"
    ZDOTDIR=$WORK at_prompt "$1" zsh -d -i
}

# expect SHELL KEYS LINE
expect() {
    local got
    got=$("in_$1" "$2")
    echo "$1, $2: \"$got\""
    [ "${got%"${got##*[! ]}"}" = "$3" ]
}

@test "bash completes commands, options, values, files and devices" {
    expect bash 'jbdlab mo\t' 'jbdlab move'
    expect bash 'jbdlab --color al\t' 'jbdlab --color always'
    expect bash 'jbdlab --color=al\t' 'jbdlab --color=always'
    expect bash 'jbdlab --quiet move --lo\t' 'jbdlab --quiet move --lost-journal'
    expect bash 'jbdlab move --verify fs\t' 'jbdlab move --verify fsck'
    expect bash 'jbdlab move --to in\t' 'jbdlab move --to inline'
    expect bash 'jbdlab move --to ext\t/dev/nul\t' 'jbdlab move --to external=/dev/null'
    expect bash 'jbdlab move --to=external=/dev/nul\t' 'jbdlab move --to=external=/dev/null'
    expect bash 'jbdlab move --to external=/dev/null /dev/zer\t' \
        'jbdlab move --to external=/dev/null /dev/zero'
    expect bash 'jbdlab run an\t' 'jbdlab run an-experiment.ini'
    expect bash 'jbdlab run --resume \t' 'jbdlab run --resume some-bundle/'
    expect bash 'jbdlab scratch le\t' 'jbdlab scratch lease'
    expect bash 'jbdlab scratch lease /dev/nul\t' 'jbdlab scratch lease /dev/null'
    expect bash 'jbdlab compare an-experiment.ini so\t' 'jbdlab compare an-experiment.ini some-bundle/'
    expect bash 'jbdlab completion \x1b*' 'jbdlab completion bash zsh'
    expect bash 'jbdlab bench some-bundle --workload thr\t' \
        'jbdlab bench some-bundle --workload throughput'
    # A number and a name that nobody can know.
    expect bash 'jbdlab bench --seed \t' 'jbdlab bench --seed'
    expect bash 'jbdlab check --to inl\t --js\t' 'jbdlab check --to inline --json'
}

@test "zsh completes commands, options, values, files and devices" {
    command -v zsh >/dev/null || skip "no zsh"
    expect zsh 'jbdlab mo\t' 'jbdlab move'
    expect zsh 'jbdlab move --lo\t' 'jbdlab move --lost-journal'
    expect zsh 'jbdlab move --verify fs\t' 'jbdlab move --verify fsck'
    expect zsh 'jbdlab move --verify=fs\t' 'jbdlab move --verify=fsck'
    expect zsh 'jbdlab move --to ext\t/dev/nul\t' 'jbdlab move --to external=/dev/null'
    expect zsh 'jbdlab move --to external=/dev/null /dev/zer\t' \
        'jbdlab move --to external=/dev/null /dev/zero'
    expect zsh 'jbdlab run an\t' 'jbdlab run an-experiment.ini'
    expect zsh 'jbdlab run --resume \t' 'jbdlab run --resume some-bundle' # the slash goes when the line ends
    expect zsh 'jbdlab scratch le\t' 'jbdlab scratch lease'
    expect zsh 'jbdlab bench some-bundle --workload thr\t' \
        'jbdlab bench some-bundle --workload throughput'
}

# Options as --help prints them: one in a line, "-x, --name".
help_options() {
    timeout 60 jbdlab "$@" --help | grep -oE '^ {2,6}(-[a-zA-Z], )?--[a-zA-Z-]+' |
        grep -oE -- '--?[a-zA-Z-]+' | sort
}

@test "no command and no option is missing" {
    local command n=0
    jbdlab completion bash >"$WORK/bash"
    jbdlab completion zsh >"$WORK/zsh"
    # shellcheck source=/dev/null
    . "$WORK/bash"
    while read -r command; do
        [[ " $(_jbdlab_words '') " == *" $command "* ]]
        grep -q "^        '$command:" "$WORK/zsh"
        help_options "$command" >"$WORK/help"
        _jbdlab_words "$command" | tr ' ' '\n' | grep . | sort | diff "$WORK/help" -
        awk -v c="        $command)" '$0 == c { here = 1 } /;;/ { here = 0 } here' "$WORK/zsh" |
            grep -oE "^ +'\*?--?[a-zA-Z-]+" | grep -oE -- '--?[a-zA-Z-]+' | sort |
            diff "$WORK/help" -
        n=$((n + 1))
    done < <(jbdlab --help | awk '/^Commands:/ { here = 1; next } /^$/ { here = 0 } here { print $1 }')
    [ $n -gt 10 ]
}

@test "completion of an unknown shell is refused" {
    run jbdlab completion fish
    [ "$status" = 2 ]
    [[ $output == *"bash or zsh"* ]]
}
