#!/bin/sh
# states.sh - what LuaJIT did, by category, of programs that do one thing. LONG=1: the same shares
# as its own profiler's -jp=v prints of the same program.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

JIT_MODULES='/usr/share/luajit-2.1/?.lua;/usr/share/luajit-2.1.0-beta3/?.lua;;'

# Write our percent of each state, and theirs, as lines: STATE OURS THEIRS.
both() # KIND SECONDS
{
    : >"$SCRATCH/theirs"
    [ -z "${LONG:-}" ] ||
        LUA_PATH=$JIT_MODULES stock -jp=vi1m0,"$SCRATCH/theirs" "$SCRIPTS/kinds.lua" "$@" ||
        return 1
    record "$SCRIPTS/kinds.lua" "$@" &&
        "$JSPROF_TOOL" report --by category --vm --csv "$SCRATCH/cap" >"$SCRATCH/ours" || return 1
    sed 's/^ *\([0-9]*\)% */\1 /; s/Compiled/jit/; s/Interpreted/script/; s/C code/host/
         s/Garbage Collector/gc/; s/JIT Compiler/compile/' "$SCRATCH/theirs" >"$SCRATCH/words"
    sed '1d; s/^"\(.*\)",\([0-9]*\),.*/\2 \1/' "$SCRATCH/ours" | awk -v long="${LONG:-}" '
        FILENAME == "-" { ours[$2] = $1; all += $1; next }
        { theirs[$2] = $1; ours[$2] += 0 }
        END { for (s in ours) { our = 100 * ours[s] / all
                  printf "%s %.1f %.1f\n", s, our, s in theirs ? theirs[s] : long ? 0 : our } }
        ' - "$SCRATCH/words" >"$SCRATCH/both"
    cat "$SCRATCH/both"
}

only() # STATE KIND SECONDS: this state alone
{
    state=$1
    shift
    both "$@" && awk -v state="$state" '$1 == state && $2 >= 95 && $3 >= 95 { good = 1 }
        END { exit !good }' "$SCRATCH/both"
}

mixed() # STATE KIND SECONDS: much of this one, and both profilers see about as much of each state
{
    state=$1
    shift
    both "$@" && awk -v state="$state" '$1 == state && $2 >= 30 { good = 1 }
        $2 - $3 > 15 || $3 - $2 > 15 { bad = 1 }
        END { exit bad || !good }' "$SCRATCH/both"
}

# A stack counts by how its innermost function ran, not by whether any call of it was compiled.
filter_agrees()
{
    record "$SCRIPTS/kinds.lua" compiled 0.8 || return 1
    "$JSPROF_TOOL" report --category jit --csv --sort total "$SCRATCH/cap" >"$SCRATCH/jit" &&
        "$JSPROF_TOOL" report --by category --csv "$SCRATCH/cap" >"$SCRATCH/ours" || return 1
    cat "$SCRATCH/ours" "$SCRATCH/jit"
    [ "$(sed -n 's/^"jit",\([0-9]*\),.*/\1/p' "$SCRATCH/ours")" = \
        "$(sed -n 's/^"main chunk [^"]*",vm,0,\([0-9]*\),.*/\1/p' "$SCRATCH/jit")" ]
}

one()
{
    check 'interpreted code is of category script' only script interpreted 0.5
    check 'compiled code is of category jit' only jit compiled 1
    check 'C functions are of category host' only host c 0.8
    check 'a collection is of category gc' only gc collected 0.7
    check 'the JIT compiler is of category compile' mixed compile compiler 0.7
    check 'compiled code that collects is of both' mixed gc garbage 0.9
    check '--category jit counts what --by category counts for it' filter_agrees
}

LUA_ONLY=jit
each_version one
finish
