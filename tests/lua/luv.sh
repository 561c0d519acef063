#!/bin/sh
# luv.sh - a program of luv, libuv's loop for Lua: its timer's function is recorded.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib-real.sh"

cat >"$SCRATCH/timer.lua" <<LUA
local uv = require "luv"
local jsprof = require "jsprof"
local turn = dofile("$SCRIPTS/turns.lua")
jsprof.start{ output = "$SCRATCH/cap" }
local timer, left, share = uv.new_timer(), 40
local function on_timer()
  share, left = turn(), left - 1
  if left == 0 then timer:close() end
end
timer:start(0, 1, on_timer)
uv.run()
jsprof.stop()
print(share)
LUA

recorded()
{
    stock "$SCRATCH/timer.lua" >"$SCRATCH/out" 2>&1 || { cat "$SCRATCH/out"; return 1; }
}

# The program calls from C without end, so many samples are in the middle of such a call.
in_order()
{
    share_is 98 100 \
        "work ${any}(long|short) ${any}turn ${any}on_timer .*uv_run.*luv.run .*main chunk "
}

TRIED=0
one()
{
    export LUA_CPATH="$MODULES/?.so;;"
    stock -e 'require "luv"' 2>/dev/null || return
    TRIED=$((TRIED + 1))
    check 'a program of luv' recorded
    check_real "$SCRATCH/out"
    check 'the loop is between its function and its program' in_order
}

each_version one
[ $TRIED -gt 0 ] || MISSING="$MISSING lua-luv"
finish
