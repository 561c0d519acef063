#!/bin/sh
# awesome.sh - awesome, as it is: the functions of a timer in its configuration, which GLib's loop
# calls, are recorded by the preloaded module.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lua/lib-real.sh"
needs 5.3 awesome /usr/bin/awesome
needs 5.3 xvfb /usr/bin/xvfb-run

cat >"$SCRATCH/rc.lua" <<LUA
local timer = require("gears.timer")
local turn = dofile("$SCRIPTS/turns.lua")
local left, share = 40
timer.start_new(0.001, function()
  share, left = turn(), left - 1
  if left > 0 then return true end
  local out = io.open("$SCRATCH/share", "w")
  out:write(tostring(share), "\n")
  out:close()
  awesome.quit()
end)
LUA

recorded()
{
    HOME=$SCRATCH XDG_CACHE_HOME=$SCRATCH timeout 300 xvfb-run -a dbus-run-session -- env \
        JSPROF="$SCRATCH/cap" LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULE" \
        awesome -c "$SCRATCH/rc.lua" >"$SCRATCH/out" 2>&1
    recorded_status=$?
    cat "$SCRATCH/out"
    return $recorded_status
}

check 'awesome runs its configuration' recorded
check_real "$SCRATCH/share"
finish
