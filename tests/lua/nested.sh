#!/bin/sh
# nested.sh - C and Lua that call each other: while a call is made or ended, the C frames are still
# in one part, and the program's first function is the outermost.
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

one()
{
    check 'a program that sorts in what sorts' recorded
    check 'C is the outermost' share_is 99.6 100 "([CI]:[^$t]*$t\$)|($exit_is_last)"
    check 'few end where compiled code is left' share_is 0 3 "$exit_is_last"
    check 'the main chunk is inside of it' share_is 98.5 100 "${t}main chunk "
}

each_version one
finish
