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

# Of LuaJIT's samples some end in the VM's exit from compiled code, which no table describes.
one()
{
    check 'a program that sorts in what sorts' recorded
    check 'C is the outermost' share_is 99.2 100 "${t}[CI]:[^$t]*$t\$"
    check 'the main chunk is inside of it' share_is 98.5 100 "main chunk .*${t}[CI]:[^$t]*$t\$"
}

each_version one
finish
