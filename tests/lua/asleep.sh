#!/bin/sh
# asleep.sh - on the looker's wall clock, a Lua program that sleeps is not woken, and its stacks are
# those that a timer's signals find.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

cat >"$SCRATCH/naps.lua" <<'END'
local naps, slept = 0, 0
local function leaf(n)
  local p = io.popen('sleep ' .. n)
  p:read('*a')
  p:close()
  naps, slept = naps + 1, slept + n
end
local object = {}
function object:wait(n) leaf(n) return 1 end
local function guarded(n) local ok, e = pcall(object.wait, object, n) assert(ok, e) return 2 end
local inner = coroutine.wrap(function() while true do guarded(0.2) coroutine.yield() end end)
local outer = coroutine.wrap(function() while true do inner() coroutine.yield() end end)
local function sorted()
  table.sort({ 2, 1 }, function(a, b) leaf(0.1) return a < b end)
  return 3
end
for i = 1, 3 do
  object:wait(0.2)
  outer()
  sorted()
end
END

sleeps() # SOURCE
{
    rm -f "$SCRATCH/cap"
    JSPROF=$SCRATCH/cap JSPROF_CLOCK=wall JSPROF_SOURCE=$1 stock -l jsprof "$SCRATCH/naps.lua" &&
        whole
}

# Its stacks with 2 % of the time and more, with lines, where it sleeps: from Lua's own frames on,
# since the C library calls the kernel in another way where there is a second thread.
trees() # FILE
{
    stacks '' lines weights | awk -F '\t' '
        { w = $1; all += w; if (sub(/.*C:fread/, "")) of[$0] += w }
        END { for (s in of) if (of[s] > all / 50) print s }' | grep leaf | sort >"$1"
    [ "$(wc -l <"$1")" -ge 3 ] && grep -q "FILE[*].read.*leaf.*wait.*guarded" "$1"
}

one()
{
    check 'with a timer' sleeps timer
    check 'its stacks' trees "$SCRATCH/timer"
    check 'with the looker' sleeps looker
    check 'its stacks' trees "$SCRATCH/looker"
    check 'the same' diff "$SCRATCH/timer" "$SCRATCH/looker"
    check 'no stack needs a signal' info_has 'looks .* 0 with frames of the host'
    check 'and nothing wakes it' info_has 'looks .*, [0-5] calls interrupted'
}

each_version one
finish
