#!/bin/sh
# mpv.sh - mpv, as it is: a script in Lua, which mpv runs on a thread of its own, is recorded by the
# preloaded module.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lua/lib-real.sh"
needs 5.2 mpv /usr/bin/mpv

cat >"$SCRATCH/script.lua" <<LUA
local turn = dofile("$SCRIPTS/turns.lua")
local left, share = 40
local timer
timer = mp.add_periodic_timer(0.001, function()
  share, left = turn(), left - 1
  if left > 0 then return end
  timer:kill()
  local out = io.open("$SCRATCH/share", "w")
  out:write(tostring(share), "\n")
  out:close()
  mp.command("quit")
end)
LUA

# One script alone: each has a state, and each state a capture. Each version of mpv has others
# that it loads itself.
recorded()
{
    none=$(mpv --list-options | sed -n 's/^ *\(--load-[a-z-]*\) .*/\1=no/p' | grep -v -e unsafe)
    # shellcheck disable=SC2086
    HOME=$SCRATCH preloaded timeout 300 mpv --no-config $none --osc=no --ytdl=no \
        --script="$SCRATCH/script.lua" --idle=yes --vo=null --ao=null >"$SCRATCH/out" 2>&1
    recorded_status=$?
    cat "$SCRATCH/out"
    return $recorded_status
}

check 'mpv runs a script' recorded
check_real "$SCRATCH/share"
finish
