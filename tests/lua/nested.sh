#!/bin/sh
# nested.sh - C and Lua that call each other: while a call is made or ended, the C frames are still
# in one part, and the program's first function is the outermost. So they are in interpreted LuaJIT,
# inside of the VM's own subroutines and where it makes and ends its frame, which its unwind row
# describes wrongly.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

recorded()
{
    record "$SCRIPTS/nested.lua" && whole
}

# LuaJIT leaves compiled code through a subroutine that its unwind tables describe wrongly: the C
# stack is cut there, and `jsprof info` counts that. Chance decides how many samples meet it (0 to
# 1.5 % of 500, 0.5 % on average). No other stack may be cut.
exit_is_last="${t}[CI]:lj_vm_exit_handler($t([^CI]|[CI][^:])[^$t]*)*$t\$"

# By the distribution's interpreter, whose frame pointer is 0 there: what the row finds then
# looks like the end of the stack.
interpreted() # WHICH
{
    rm -f "$SCRATCH/cap"
    JSPROF=$SCRATCH/cap stock -l jsprof "$SCRIPTS/interpreted.lua" "$1" && whole
}

one()
{
    check 'a program that sorts in what sorts' recorded
    check 'C is the outermost' share_is 99.6 100 "([CI]:[^$t]*$t\$)|($exit_is_last)"
    check 'few end where compiled code is left' share_is 0 3 "$exit_is_last"
    check 'the main chunk is inside of it' share_is 98.5 100 "${t}main chunk "
    [ "$VERSION" = jit ] || return
    for which in remainder floor tables strings calls; do
        check "$which: recorded" interpreted "$which"
        check "$which: up to main" share_is 99.5 100 "C:__libc_start_(call_)?main$t"
        check "$which: and the file says so" info_has 'C stacks +100.0% whole$'
    done
}

each_version one
finish
