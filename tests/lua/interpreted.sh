#!/bin/sh
# interpreted.sh - interpreted LuaJIT keeps its C stack inside of the VM's own subroutines
# and where the VM makes and ends its frame: its unwind row describes neither.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

# By the distribution's interpreter, whose frame pointer is 0 there: what the row finds then
# looks like the end of the stack.
interpreted() # WHICH
{
    rm -f "$SCRATCH/cap"
    JSPROF=$SCRATCH/cap stock -l jsprof "$SCRIPTS/interpreted.lua" "$1" && whole
}

one()
{
    [ "$VERSION" = jit ] || return
    for which in remainder floor tables strings calls; do
        check "$which: recorded" interpreted "$which"
        check "$which: up to main" share_is 99.5 100 "C:__libc_start_(call_)?main$t"
        check "$which: and the file says so" info_has 'C stacks +100.0% whole$'
    done
}

each_version one
finish
