#!/bin/sh
# kinds.sh - interpreted code, compiled code, C functions, the collector and LuaJIT's compiler
# have kinds of their own, each below the function that it worked for, and categories.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

# On the CPU clock each tick of the kernel is a sample: 125 at 250 Hz, 50 at 100 Hz. What has half
# of them is missing in e^-25.
kind() # KIND
{
    record "$SCRIPTS/kinds.lua" "$1" 0.5
}

# Where little is looked for: on this clock each of a thousand ticks a second is a sample.
seldom() # SCRIPT ARGS...
{
    record --profile-clock=wall "$@"
}

report_has() # REGEX
{
    "$JSPROF_TOOL" report "$SCRATCH/cap" >"$SCRATCH/report" || return 1
    head -n 12 "$SCRATCH/report"
    grep -Eq -- "$1" "$SCRATCH/report"
}

category() # NAME AT-LEAST: its percent of Lua's time
{
    "$JSPROF_TOOL" report --by category --vm --csv "$SCRATCH/cap" >"$SCRATCH/report" || return 1
    cat "$SCRATCH/report"
    awk -F , -v name="\"$1\"" -v least="$2" 'NR > 1 { all += $2 } $1 == name { of = $2 }
        END { exit !(all && 100 * of >= least * all) }' "$SCRATCH/report"
}

# A stack counts by how its innermost function ran, not by whether any call of it was compiled.
filter_agrees()
{
    "$JSPROF_TOOL" report --category jit --csv --sort total "$SCRATCH/cap" >"$SCRATCH/jit" &&
        "$JSPROF_TOOL" report --by category --csv "$SCRATCH/cap" >"$SCRATCH/report" || return 1
    cat "$SCRATCH/report" "$SCRATCH/jit"
    [ "$(sed -n 's/^"jit",\([0-9]*\),.*/\1/p' "$SCRATCH/report")" = \
        "$(sed -n 's/^"main chunk [^"]*",vm,0,\([0-9]*\),.*/\1/p' "$SCRATCH/jit")" ]
}

collected_in_c()
{
    cat >"$SCRATCH/calls.lua" <<'END'
function main()
  local start = os.clock()
  repeat make() until os.clock() - start > 0.3
end
END
    build_host loop_host.c && rm -f "$SCRATCH/cap" &&
        "$SCRATCH/host" "$SCRATCH/cap" "$SCRATCH/calls.lua" called && whole
}

one()
{
    check 'interpreted code runs' kind interpreted
    check 'it is of kind vm' report_has ' vm +loop '
    check 'and of category script' category script 95
    check 'C functions run' kind c
    check 'they are labels, below their caller' report_has ' label +string.gsub '
    check 'of category host' category host 95
    check 'and share the time' share_is 50 100 'string.gsub .*in_c .*main chunk'
    check 'the collector runs, called' kind collected
    check 'it is of category gc' category gc 80
    check 'and of kind gc' report_has ' gc +\[garbage collector\]'
    check 'and below who called it' share_is 50 100 \
        '\[garbage collector\].*collectgarbage .*collected .*main chunk'
    check 'the collector runs by itself' seldom "$SCRIPTS/kinds.lua" garbage 0.3
    check 'which has much of the time' category gc 20
    check 'it is of kind gc again' report_has ' gc +\[garbage collector\]'
    check 'and below who allocates' share_is 2 100 "\[garbage collector\]$t.*garbage "
    check 'a C function allocates' collected_in_c
    check 'the collector stands below that one' share_is 5 100 \
        "\[garbage collector\]$t.*C:host_garbage${t}C:host_make$t.*make ..C..$t(I:.*)*main "
    check 'hardly ever above it' share_is 0 20 "C:host_garbage${t}.*\[garbage collector\]$t"
    [ "$VERSION" = jit ] || return 0
    check 'compiled code runs' kind compiled
    check 'it is of kind jit' report_has ' jit +loop '
    check 'of category jit' category jit 95
    check '--category jit counts what --by category counts for it' filter_agrees
    check 'nearly all of it' share_is 80 100 'loop .*main chunk'
    check 'compiled code calls the collector' seldom "$SRCDIR/examples/lua/trees.lua" 15
    check 'it is seen at that' share_is 5 100 '\[garbage collector\]'
    check 'and the C stack below the compiled code all the same' share_is 85 100 "C:__libc_start"
    check 'the compiler runs' seldom "$SCRIPTS/kinds.lua" compiler 0.3
    check 'it is of category compile' category compile 30
    check 'it is told' report_has '\[JIT compiler\]'
    check 'and below whom it compiles' share_is 5 100 "\[JIT compiler\]$t.*compiled_anew"
}

each_version one
finish
