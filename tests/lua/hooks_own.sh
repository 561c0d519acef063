#!/bin/sh
# hooks_own.sh - coroutines that have hooks of their own keep them: while calls are counted,
# and when the counting ends, those that wait for somebody to resume them, too. What hooks
# see is compared with the same program without us. (LuaJIT has one hook for all; hooks.sh.)
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

events() # WHERE ARGS...: at least so many that it saw all that the script does
{
    to=$1
    shift
    stock "$SCRIPTS/own_hooks.lua" "$@" >"$SCRATCH/$to" 2>&1
    n=$(cut -f 2 "$SCRATCH/$to" | grep -Ecx 'call|return|tail call|tail return|line|count')
    [ "$n" -gt 2000 ] || { tail "$SCRATCH/$to"; return 1; }
}

as_without() # MODE
{
    rm -f "$SCRATCH/cap"
    events want && events got "$SCRATCH/cap" "$1" || return 1
    diff "$SCRATCH/want" "$SCRATCH/got" >"$SCRATCH/diff" && whole && return
    wc -l <"$SCRATCH/diff"
    head -n 30 "$SCRATCH/diff"
    return 1
}

# Events of debug.sethook itself, too: it is replaced while calls are counted.
returns_as_without()
{
    stock "$SCRIPTS/return_hooks.lua" >"$SCRATCH/want" &&
        [ "$(grep -c 'C sethook$' "$SCRATCH/want")" -ge 9 ] || return 1
    for modes in all count time count,edges; do
        rm -f "$SCRATCH/cap"
        stock "$SCRIPTS/return_hooks.lua" "$SCRATCH/cap" "$modes" >"$SCRATCH/got" &&
            diff "$SCRATCH/want" "$SCRATCH/got" && whole || return 1
    done
}

hosted()
{
    build_host hooks_host.c && "$SCRATCH/host" "$SCRATCH/cap" && whole
}

one()
{
    check 'hooks on returns see what they see without' returns_as_without
    [ "$VERSION" = jit ] && return
    check 'counted, hooks of coroutines see what they see without' as_without calls
    check 'both, hooks of coroutines see what they see without' as_without both
    check 'a program in C has its hooks in each coroutine' hosted
}

each_version one
finish
