#!/bin/sh
# asked.sh - a Lua program that listens is asked for its long turns only (`jsprof record --stalls`):
# a loop of luv, and GLib's main loop by lgi. All of them are in the capture, and nothing else;
# the next recording has all turns again.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
unset JSPROF JSPROF_CONTROL
export XDG_RUNTIME_DIR="$SCRATCH/run"
mkdir -m 700 "$XDG_RUNTIME_DIR"

# Each tenth tick is long: 40, 55, 70 or 85 ms.
cat >"$SCRATCH/ticks.lua" <<'END'
local now, every, run = ...
local n = 0
local function busy(ms)
  local x, begin = 0, now()
  repeat
    for i = 1, 2000 do x = x + i % 7 end
  until now() - begin > ms
  return x
end
every(10, function()
  local begin = now()
  n = n + 1
  if n % 10 == 0 then busy(40 + n / 10 % 4 * 15) end
  local took = now() - begin
  if took > 20 then
    io.write(("%.3f %.3f\n"):format(begin, took))
    io.flush()
  end
end)
run()
END
cat >"$SCRATCH/luv.lua" <<END
local uv = require "luv"
loadfile "$SCRATCH/ticks.lua"(function() return uv.hrtime() / 1e6 end,
  function(ms, f) uv.new_timer():start(ms, ms, f) end, uv.run)
END
cat >"$SCRATCH/glib.lua" <<END
local GLib = require "lgi".GLib
local loop = GLib.MainLoop.new(nil, false)
loadfile "$SCRATCH/ticks.lua"(function() return GLib.get_monotonic_time() / 1e3 end,
  function(ms, f)
    GLib.timeout_add(GLib.PRIORITY_DEFAULT, ms, function() f() return true end)
  end, function() loop:run() end)
END

begins() # SCRIPT
{
    JSPROF_CONTROL=1 JSPROF_TASKS=1 LUA_INIT='require "jsprof"' LD_PRELOAD=$ASAN_LIBRARY \
        "$LUA" "$SCRATCH/$1" >"$SCRATCH/log" 2>"$SCRATCH/err" &
    pid=$!
    begins_tries=0
    until "$JSPROF_TOOL" ps --csv | grep -q "^$pid,[0-9]*,ready,[1-9]" && [ -s "$SCRATCH/log" ]; do
        begins_tries=$((begins_tries + 1))
        kill -0 $pid 2>/dev/null && [ $begins_tries -lt 600 ] || { cat "$SCRATCH/err"; return 1; }
        sleep 0.1
    done
}

ends()
{
    kill $pid
    wait $pid 2>/dev/null
    cat "$SCRATCH/err"
    [ ! -s "$SCRATCH/err" ]
}

# A sample says what the time was spent on.
has_a_cause()
{
    cat "$SCRATCH/asked"
    grep -Eq ',(function|processor),busy [(][^,]*ticks.lua:3[)]' "$SCRATCH/asked"
}

all_again()
{
    rm -f "$SCRATCH/cap"
    "$JSPROF_TOOL" record --quiet --seconds 0.5 -o "$SCRATCH/cap" $pid && whole &&
        ! info_has 'only turns of a loop' && info_has '[1-9][0-9,]* runs'
}

asked() # SCRIPT
{
    UNDER="$VERSION $1"
    check 'it listens' begins "$1" || return
    check 'the long turns are there, and no other' stalls_as_logged "$SCRATCH/log" 3
    check 'with what they did' has_a_cause
    check 'the next recording has all again' all_again
    check 'and the long ones can be asked for again' stalls_as_logged "$SCRATCH/log" 3
    check 'it has no error' ends
}

LUVS=0
LGIS=0
one()
{
    export LUA_CPATH="$MODULES/?.so;;"
    if "$LUA" -e 'require "luv"' 2>/dev/null; then
        LUVS=$((LUVS + 1))
        asked luv.lua
    fi
    if "$LUA" -e 'require("lgi").GLib.MainLoop.new(nil, false)' 2>/dev/null; then
        LGIS=$((LGIS + 1))
        asked glib.lua
    fi
}

each_version one
[ $LUVS -gt 0 ] || MISSING="$MISSING lua-luv"
[ $LGIS -gt 0 ] || MISSING="$MISSING lua-lgi"
finish
