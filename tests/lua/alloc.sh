#!/bin/sh
# alloc.sh - what functions allocate, to the byte, and what the program's own allocator sees
# of it: nothing that it would not see without us.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

bytes_agree()
{
    rm -f "$SCRATCH/cap"
    stock "$SCRIPTS/alloc.lua" "$SCRATCH/cap" >"$SCRATCH/out" 2>&1
    cat "$SCRATCH/out"
    [ "$(cat "$SCRATCH/out")" = 'all agree' ] && whole
}

calls_has() # REGEX
{
    "$JSPROF_TOOL" calls "$SCRATCH/cap" >"$SCRATCH/calls" || return 1
    cat "$SCRATCH/calls"
    grep -Eq "$1" "$SCRATCH/calls"
}

program() # the option of jsprof-lua
{
    printf 'local t = {} for i = 1, 1000 do t[i] = ("x"):rep(1000 + i) end\n' >"$SCRATCH/p.lua"
    record --profile-mode=calls --profile-alloc "$SCRATCH/p.lua"
}

hosted()
{
    build_host count_host.c && "$SCRATCH/host" "$SCRATCH/cap" && whole
}

# Not under the address sanitizer, which needs more room than that for itself.
out_of_memory()
{
    [ -n "$ASAN_LIBRARY" ] && return 0
    printf "local t = 'x' while true do t = t .. t end\n" >"$SCRATCH/full.lua"
    (ulimit -v 700000 && record --profile-mode=calls --profile-alloc "$SCRATCH/full.lua") \
        2>"$SCRATCH/err"
    [ $? = 1 ] && grep -Eq 'not enough memory|too (large|long)|overflow' "$SCRATCH/err" && whole
}

one()
{
    check 'the bytes agree' bytes_agree
    check 'the capture holds them' calls_has 'make .*alloc.lua'
    check 'jsprof-lua --profile-alloc' program
    check 'tells them' calls_has '1,000 .*[0-9] [KM]iB .*string\.rep'
    check 'a program in C counts calls and bytes, and has its allocator back' hosted
    check 'running out of memory is as without' out_of_memory
}

each_version one
finish
