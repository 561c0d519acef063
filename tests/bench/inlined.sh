#!/bin/sh
# inlined.sh - functions that LuaJIT compiled into the loop of another one: each has its stack and
# its own time. The truth is a clock: functions alone, and a benchmark before and after one
# function got more work. On descriptor 3 it prints what luajit -jp says beside it, and a table.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lua/lib.sh"

JIT_MODULES='/usr/share/luajit-2.1/?.lua;/usr/share/luajit-2.1.0-beta3/?.lua;;'
RUNS=120 # of the benchmark
NAMES='handler schedule runTask queuePacket device append'

# Functions and percents of -jp, in one line.
theirs() # SCRIPT ARGS...
{
    LUA_PATH=$JIT_MODULES stock -jp=fi1m2,"$SCRATCH/theirs" "$@" >"$SCRATCH/out" || return 1
    echo "luajit -jp: $(tr -s ' \n' '  ' <"$SCRATCH/theirs")" >&3
}

# Our percent of a function's own time; of Lua's functions alone.
self_of() # FUNCTION
{
    "$JSPROF_TOOL" report --vm --csv "$SCRATCH/cap" | sed '1d; s/^"\([^ "]*\)[^"]*",[a-z]*,/\1 /
        s/,/ /' | awk -v f="$1" '{ all += $2 } $1 == f { of += $2 }
        END { printf "%.1f\n", all ? 100 * of / all : 0 }'
}

agree() # WHAT FOUND TRUTH POINTS
{
    printf '%s: ours %.0f, by the clock %.0f\n' "$1" "$2" "$3" | tee /dev/fd/3
    near "$2" "$3" "$(stacks | wc -l)" "$4"
}

alone()
{
    stock "$SCRIPTS/inlined.lua" 3000000 alone >"$SCRATCH/alone" &&
        record --profile-clock=wall "$SCRIPTS/inlined.lua" 4000000 || return 1
    bad=0
    while read -r name percent; do
        agree "$name" "$(self_of "$name")" "$percent" 4 || bad=1
    done <"$SCRATCH/alone"
    theirs "$SCRIPTS/inlined.lua" 4000000 && [ $bad = 0 ] &&
        share_is 50 75 'heavy .*all .*main chunk'
}

# A line of the table for a function: its percent by the clock, ours, and -jp's, which shows none
# below 2.
row() # KIND FUNCTION CLOCK OURS
{
    printf '%-12s %-5s %5s %5.0f %3.0f\n' "$2" "$1" "$3" "$4" \
        "$(awk -v f="$2" '$2 == f { of += $1 } END { print of + 0 }' "$SCRATCH/theirs")" \
        >"$SCRATCH/row.$1.$2"
}

# The benchmark as it is: functions are seen that the loop of schedule contains.
plainly()
{
    record "$SCRIPTS/richards.lua" $((4 * RUNS)) || return 1
    "$JSPROF_TOOL" report --vm --csv "$SCRATCH/cap" | head -n 12
    theirs "$SCRIPTS/richards.lua" $((4 * RUNS)) || return 1
    for name in $NAMES; do
        row plain "$name" - "$(self_of "$name")"
    done
    for name in handler queuePacket worker; do
        share=$(self_of "$name")
        awk -v s="$share" 'BEGIN { exit !(s > 0) }' || return 1
    done
}

# The time by which the benchmark takes longer is the function's. Both times are of one moment.
burdened() # FUNCTION
{
    plain=$(record "$SCRIPTS/richards.lua" "$RUNS") &&
        longer=$(record "$SCRIPTS/richards.lua" "$RUNS" "$1") &&
        theirs "$SCRIPTS/richards.lua" "$RUNS" "$1" || return 1
    clock=$(awk -v a="$plain" -v b="$longer" 'BEGIN { printf "%.0f", 100 * (b - a) / b }')
    share=$(self_of "$1")
    row more "$1" "$clock" "$share"
    agree "$1" "$share" "$clock" 6
}

one()
{
    check 'functions in one loop have the times that they have alone, below it' alone
    check 'Richards shows the functions that schedule runs' plainly
    for name in $NAMES; do
        check "more work in $name is time of $name" burdened "$name"
    done
    printf '%-12s %-5s %5s %5s %3s\n' function work clock ours -jp >&3
    for name in $NAMES; do
        cat "$SCRATCH/row.plain.$name" "$SCRATCH/row.more.$name" >&3
    done
}

LUA_ONLY=jit
each_version one 3>&1
finish
