#!/bin/sh
# hooks.sh - programs that set hooks themselves, as debuggers and coverage tools do, and
# finalizers and closers: all run as without us, sampled and counted. Coroutines that have hooks of
# their own keep them while calls are counted, and when that ends, those that wait for somebody to
# resume them, too. (LuaJIT has one hook for all.)
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

as_without() # [MODE]
{
    rm -f "$SCRATCH/cap"
    stock "$SCRIPTS/tracers.lua" "$SCRATCH/cap" "$@" >"$SCRATCH/out" 2>&1
    cat "$SCRATCH/out"
    [ "$(cat "$SCRATCH/out")" = 'all as without' ] && { [ $# = 0 ] || whole; }
}

missed_is_told()
{
    "$JSPROF_TOOL" calls "$SCRATCH/cap" >"$SCRATCH/calls"
    cat "$SCRATCH/calls"
    grep -Eq '^ +2 .*\[calls missed: another hook took the place of ours\]' "$SCRATCH/calls"
}

finalized() # MODE WANTED
{
    rm -f "$SCRATCH/cap"
    rounds=20000
    [ "$VERSION" = jit ] && rounds=400000
    stock "$SCRIPTS/finalizers.lua" "$SCRATCH/cap" "$1" "$rounds" >"$SCRATCH/out" 2>&1
    cat "$SCRATCH/out"
    [ "$(tr '\t' ' ' <"$SCRATCH/out")" = "$2" ] && whole
}

# Everything at once that unwinds, yields, dies and is collected, sampled as fast as can be:
# the calls of two runs are as many.
stormed()
{
    record --profile-mode=both --profile-alloc --profile-hz=10000 "$SCRIPTS/storm.lua" 10 300 \
        >"$SCRATCH/out" 2>&1 || { cat "$SCRATCH/out"; return 1; }
    whole && "$JSPROF_TOOL" calls "$SCRATCH/cap" | sed -n 's/ calls in .*//p' >"$SCRATCH/$1"
}

storms_agree()
{
    stormed storm.1 && stormed storm.2 || return 1
    cat "$SCRATCH/storm.1" "$SCRATCH/storm.2"
    [ -s "$SCRATCH/storm.1" ] && cmp "$SCRATCH/storm.1" "$SCRATCH/storm.2"
}

events() # WHERE ARGS...: at least so many that it saw all that the script does
{
    to=$1
    shift
    stock "$SCRIPTS/own_hooks.lua" "$@" >"$SCRATCH/$to" 2>&1
    n=$(cut -f 2 "$SCRATCH/$to" | grep -Ecx 'call|return|tail call|tail return|line|count')
    [ "$n" -gt 2000 ] || { tail "$SCRATCH/$to"; return 1; }
}

events_as_without() # MODE
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
    check 'the program itself is right' as_without
    check 'sampled, hooks see what they see without' as_without sample
    check 'counted, hooks see what they see without' as_without calls
    check 'a hook that took the place of ours is told' missed_is_told
    check 'both, hooks see what they see without' as_without both
    closed='close 0 failed 0' counted='counted 0'
    [ "$VERSION" = 5.4 ] && closed='close 150 failed 50' counted='counted 150'
    check 'finalizers run while they are sampled' finalized sample "gc 100 $closed counted 0"
    check 'and are seen, below what the collector works for' share_is 20 100 \
        'burn .*finalize .*produce .*main chunk'
    check 'finalizers run, closers are counted' finalized calls "gc 100 $closed $counted"
    check 'finalizers and closers in both' finalized both "gc 100 $closed $counted"
    check 'a storm is counted as often as the storm before' storms_agree
    check 'hooks on returns see what they see without' returns_as_without
    [ "$VERSION" = jit ] && return
    check 'counted, hooks of coroutines see what they see without' events_as_without calls
    check 'both, hooks of coroutines see what they see without' events_as_without both
    check 'a program in C has its hooks in each coroutine' hosted
}

each_version one
finish
