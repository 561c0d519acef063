#!/bin/sh
# inlined.sh - functions that LuaJIT compiled into the loop of another one: each has its stack and
# its own time. The truth is a clock: functions alone, and a benchmark before and after one
# function got more work. On descriptor 3 it prints what luajit -jp says beside it.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

JIT_MODULES='/usr/share/luajit-2.1/?.lua;/usr/share/luajit-2.1.0-beta3/?.lua;;'
RUNS=120 # of the benchmark

theirs() # SCRIPT ARGS...: functions and percents in one line
{
    LUA_PATH=$JIT_MODULES stock -jp=fi1m2,"$SCRATCH/theirs" "$@" >"$SCRATCH/out" || return 1
    tr -s ' \n' '  ' <"$SCRATCH/theirs" >&3
    echo >&3
}

# Our percent of a function's own time; of Lua's functions alone.
self_of() # FUNCTION
{
    "$JSPROF_TOOL" report --vm --csv "$SCRATCH/cap" | sed '1d; s/^"\([^ "]*\)[^"]*",[a-z]*,/\1 /
        s/,/ /' | awk -v f="$1" '{ all += $2 } $1 == f { of += $2 }
        END { printf "%.1f\n", all ? 100 * of / all : 0 }'
}

near() # WHAT FOUND TRUTH POINTS
{
    printf '%s: ours %.0f, by the clock %.0f\n' "$1" "$2" "$3"
    printf '%s: ours %.0f, by the clock %.0f\n' "$1" "$2" "$3" >&3
    awk -v a="$2" -v b="$3" -v d="$4" 'BEGIN { exit !(a - b <= d && b - a <= d) }'
}

alone()
{
    stock "$SCRIPTS/inlined.lua" 3000000 alone >"$SCRATCH/alone" &&
        record --profile-clock=wall "$SCRIPTS/inlined.lua" 4000000 || return 1
    bad=0
    while read -r name percent; do
        near "$name" "$(self_of "$name")" "$percent" 8 || bad=1
    done <"$SCRATCH/alone"
    printf 'luajit -jp: ' >&3
    theirs "$SCRIPTS/inlined.lua" 4000000 && [ $bad = 0 ]
}

# Each stack of compiled code is one that the interpreter has. A sample may be of the call that
# starts the recording.
shapes() # ARGS OF THE SCRIPT...
{
    record --profile-clock=wall "$SCRIPTS/shapes.lua" "$@" &&
        "$JSPROF_TOOL" convert --to folded --vm "$SCRATCH/cap" |
        sed 's/_\[[ij]\]//g; s/ [0-9]*$//; s/;\[JIT compiler\]$//
            s/\(\[garbage collector\];\)*\[garbage collector\]$/[garbage collector]/
            /^module_start /d' | sort -u
}

same_shapes()
{
    shapes 3000000 off | sed p | awk -F ';' '{ s = $1; print s
        for (i = 2; i <= NF; i++) print s = s ";" $i }' | sort -u >"$SCRATCH/interpreted"
    shapes 30000000 >"$SCRATCH/compiled"
    comm -13 "$SCRATCH/interpreted" "$SCRATCH/compiled" >"$SCRATCH/more"
    cat "$SCRATCH/more"
    [ ! -s "$SCRATCH/more" ] && grep -q ';deep .*;vararg .*;leaf ' "$SCRATCH/compiled" &&
        grep -q ';protected .*;pcall .*;leaf ' "$SCRATCH/compiled" &&
        grep -q ';meta .*;__index ' "$SCRATCH/compiled"
}

# The benchmark as it is: its time, and that functions are seen that the loop of schedule contains.
plainly()
{
    four=$(record "$SCRIPTS/richards.lua" $((4 * RUNS))) || return 1
    plain=$(awk -v four="$four" 'BEGIN { print four / 4 }')
    "$JSPROF_TOOL" report --vm --csv "$SCRATCH/cap" | head -n 12
    for name in handler queuePacket worker; do
        share=$(self_of "$name")
        awk -v s="$share" 'BEGIN { exit !(s > 0) }' || return 1
    done
    printf 'luajit -jp: ' >&3
    theirs "$SCRIPTS/richards.lua" $((4 * RUNS))
}

# The time by which the benchmark takes longer is the function's.
burdened() # FUNCTION
{
    longer=$(record "$SCRIPTS/richards.lua" "$RUNS" "$1") || return 1
    near "$1" "$(self_of "$1")" \
        "$(awk -v a="$plain" -v b="$longer" 'BEGIN { print 100 * (b - a) / b }')" 10 || return 1
    printf 'luajit -jp: ' >&3
    theirs "$SCRIPTS/richards.lua" "$RUNS" "$1"
}

burdened_anew() # FUNCTION
{
    plainly && burdened "$1"
}

one()
{
    check 'functions in one loop have the times that they have alone' thrice alone
    check 'and are called by that loop' share_is 50 75 'heavy .*all .*main chunk'
    check 'compiled calls have the stacks of interpreted ones' same_shapes
    check 'Richards shows the functions that schedule runs' thrice plainly
    for name in queuePacket handler device append; do
        check "more work in $name is time of $name" thrice burdened_anew "$name"
    done
}

LUA_ONLY=jit
each_version one 3>&1
finish
