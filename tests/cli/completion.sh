#!/bin/sh
# cli/completion.sh - what bash, zsh and fish offer when a word of a jsprof command is completed.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"
for shell in bash zsh fish; do
    command -v $shell >/dev/null || { echo "SKIP: needs $shell"; exit 77; }
done
PATH=$(cd "$(dirname "$jsprof")" && pwd):$PATH

in_bash() # WORD...: the candidates for the last one
{
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _jsprof
             printf "%s\n" "${COMPREPLY[@]}"' - "$SRCDIR/completion/jsprof.bash" "$@" >out
    ran="completing in bash: $*"
}

# The function runs as the completion system would run it, with what it calls there
# replaced by what says so.
cat >zsh.zsh <<'END'
autoload -Uz compinit && compinit -u -d ./dump
compadd() {
    local w
    while [[ $1 == -* && $1 != -- ]]; do shift; done
    shift
    for w; do if [[ $w == ${words[CURRENT]}* ]]; then print -r -- $w; fi; done
}
_describe() { local w; for w in ${(P)2}; do compadd -- ${w%%:*}; done }
_files() { compadd -- *(N) }
zcomplete() { local -a words=("$@"); local CURRENT=$#; source $completion }
completion=$1; shift
zcomplete "$@"
END
in_zsh()
{
    zsh -f zsh.zsh "$SRCDIR/completion/_jsprof" "$@" >out 2>err
    ran="completing in zsh: $*"
    is_err ''
}

in_fish()
{
    HOME=$PWD fish -c 'source $argv[1]; complete -C "$argv[2..]"' \
        "$SRCDIR/completion/jsprof.fish" "$@" 2>err | cut -f 1 >out
    ran="completing in fish: $*"
    is_err ''
}

for shell in bash zsh fish; do
    in_$shell jsprof rep
    has report
    lines 1
    in_$shell jsprof ''
    has tree
    has help
    in_$shell jsprof help du
    has dump
    lines 1
    in_$shell jsprof report --sor
    has --sort
    lines 1
    in_$shell jsprof tree --hide-
    has --hide-system
    lines 1
    in_$shell jsprof tree --h
    has --hide
    has --help
    lines 3
    in_$shell jsprof report --sort na
    has name
    lines 1
    in_$shell jsprof report --clock w
    has wall
    lines 1
    in_$shell jsprof report go
    has good.cap
    lines 1
done
exit $bad
