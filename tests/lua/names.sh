#!/bin/sh
# names.sh - names of functions that nobody on the stack has made: of modules that are required
# while recording, by what calls them; and none that means another function each time.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

where="[^$t]*names_module.lua"
burning="(C function|_of_host|by_a_name) ..C..$t" # one of the host's functions, by any name

recorded()
{
    export LUA_CPATH="$MODULES/?.so;;"
    rm -f "$SCRATCH/cap"
    stock "$SCRIPTS/names.lua" "$SCRATCH/cap" "$SCRIPTS" >"$SCRATCH/out" 2>&1 ||
        { cat "$SCRATCH/out"; return 1; }
    whole
}

not_seen() # REGEX
{
    stacks >"$SCRATCH/stacks.out"
    ! grep -E "$1" "$SCRATCH/stacks.out"
}

built()
{
    build_host names_host.c && hosted
}

hosted() # [calls]
{
    rm -f "$SCRATCH/cap"
    "$SCRATCH/host" "$SCRATCH/cap" ${1:+"$1"} && whole
}

counted() # REGEX...: each is the beginning of a row
{
    "$JSPROF_TOOL" calls --csv "$SCRATCH/cap" >"$SCRATCH/calls" || return 1
    cat "$SCRATCH/calls"
    for re; do
        grep -Eq "^$re" "$SCRATCH/calls" || { echo "no $re"; return 1; }
    done
}

# The same program, while its calls are counted.
counts_of_modules()
{
    rm -f "$SCRATCH/cap"
    stock "$SCRIPTS/names.lua" "$SCRATCH/cap" "$SCRIPTS" calls >"$SCRATCH/out" 2>&1 ||
        { cat "$SCRATCH/out"; return 1; }
    for row in names_module.field:13 names_module.method:18 names_module.called:48 helper:7; do
        counted "\"${row%:*}\",\"[^\"]*names_module.lua\",${row#*:}," || return 1
    done
    ! grep -q lpeg "$SCRATCH/out" || counted '"lpeg.match"' '"luaopen_lpeg"'
}

counts_by_symbol()
{
    build_host names_host.c && hosted calls &&
        counted '"first_of_host"' '"second_of_host"' '"by_a_name"' &&
        ! grep -q third_of_host "$SCRATCH/calls"
}

# Nothing but the capture itself has the symbols: the program is gone before they are printed.
by_symbol()
{
    rm "$SCRATCH/host"
    share_near 33.3 "(^|$t)first_of_host ..C..$t" "$burning" &&
        share_near 33.3 "(^|$t)second_of_host ..C..$t" "$burning" &&
        share_near 33.3 "(^|$t)by_a_name ..C..$t" "$burning" &&
        not_seen '(C function|third_of_host) [(]'
}

symbols()
{
    built && by_symbol
}

# The symbol of another function that begins before is no name.
without_symbols()
{
    build_host names_host.c && strip "$SCRATCH/host" && hosted || return 1
    share_near 66.7 "(^|$t)C function ..C..$t" "$burning" && not_seen '[a-z_]+_of_host'
}

of_lpeg()
{
    check 'a function of a module in C' share_is 5 50 \
        "${t}lpeg.match ..C..$t${any}seconds [^$t]*$t"
    check 'one that no call instruction names' share_is 5 50 \
        "${t}lpeg.match ..C..$t(I:$any)*pcall ..C..$t"
    check 'nothing of ours is between require and its caller' not_seen 'C:wraps_|require .*require '
}

# Where LPeg is installed, there are more parts.
one()
{
    check 'a module is required while it is recorded' recorded
    check 'a field of a module' share_is 5 60 \
        "(^|$t)helper .$where:7. :[0-9]+${t}names_module.field .$where:13. :14$t"
    check 'a method' share_is 5 60 \
        "${t}helper .$where:7. :[0-9]+${t}names_module.method .$where:18. :19$t"
    check 'a field that only C calls' share_is 5 60 \
        "${t}helper .$where:7. :[0-9]+${t}names_module.called .$where:48. :49${t}(I:$any)*pcall "
    check 'a field is no name of what its maker makes elsewhere' share_is 5 60 \
        "${t}helper .$where:7. :[0-9]+${t}function .$where:54. :54${t}through "
    check 'a parameter is no name' share_is 5 60 \
        "${t}helper .$where:7. :[0-9]+${t}function .$where:23. :23${t}through "
    check 'an upvalue that C calls' share_is 1 60 \
        "${t}is_less .$where:26. :27${t}(I:$any)*(C:$any)*table.sort "
    check 'an upvalue that is called last' share_is 1 60 "${t}ended .$where:31. :32$t"
    ! grep -q lpeg "$SCRATCH/out" || of_lpeg
    check 'exact calls have the names of modules' counts_of_modules
    check 'the symbols of a program that calls C functions of its own' symbols
    check 'exact calls have their symbols, too' counts_by_symbol
    check 'without symbols they have none' without_symbols
}

each_version one
finish
