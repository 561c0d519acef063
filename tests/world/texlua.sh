#!/bin/sh
# texlua.sh - texlua, as it is: TeX's shared Lua opens its libraries one by one, and a script is
# recorded by the preloaded module. Its LuaJIT is built without GC64: it is refused in a line.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lua/lib-real.sh"
needs 5.3 texlive-binaries /usr/bin/texlua

cat >"$SCRATCH/script.lua" <<LUA
local turn = dofile("$SCRIPTS/turns.lua")
local share
for _ = 1, 40 do share = turn() end
print(share)
LUA

recorded()
{
    preloaded texlua "$SCRATCH/script.lua" >"$SCRATCH/out" 2>&1
    recorded_status=$?
    cat "$SCRATCH/out"
    return $recorded_status
}

jit_is_refused()
{
    MODULE=$B/lib/lua/jit/jsprof.so
    [ -x /usr/bin/texluajit ] && [ -f "$MODULE" ] || return 0
    rm -f "$SCRATCH/cap"
    preloaded texluajit "$SCRATCH/script.lua" >"$SCRATCH/out" 2>"$SCRATCH/err" &&
        one_line "$SCRATCH/err" 'jsprof: nothing is recorded: .*this Lua is built in a way that' &&
        [ -s "$SCRATCH/out" ] && [ ! -e "$SCRATCH/cap" ]
}

check 'texlua runs a script' recorded
check_real "$SCRATCH/out"
check 'its LuaJIT is refused in a line' jit_is_refused
finish
