#!/bin/sh
# late.sh - what comes late does no harm: a module when there is no room for more names,
# allocations after the thread ended that made the others, finalizers after the recording's own.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

# More functions than there are names.
crowd()
{
    { echo 'local M = {}'
        awk 'BEGIN { for (i = 1; i <= 3000; i++) print "function M.f" i "() return 1 end" }'
        echo 'return M'; } >"$SCRATCH/crowd.lua"
    cat >"$SCRATCH/requires.lua" <<'END'
require "jsprof".start{ output = arg[1] }
package.path = arg[2] .. "/?.lua"
local sum = 0
for _, f in pairs(require "crowd") do sum = sum + f() end
print(sum)
END
    rm -f "$SCRATCH/cap"
    [ "$(stock "$SCRATCH/requires.lua" "$SCRATCH/cap" "$SCRATCH")" = 3000 ] && whole
}

preloaded() # COMMAND...
{
    LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" "$@"
}

thread_ended()
{
    rm -f "$SCRATCH/cap"
    cat >"$SCRATCH/starts.lua" <<END
require 'jsprof'.start{ output = '$SCRATCH/cap', alloc = 4096 }
function work() local t = {} for i = 1, 100000 do t[i] = { i } end end
END
    build_host strange_host.c && preloaded "$SCRATCH/host" ended "$SCRATCH/starts.lua" && whole
}

# Finalizers run in the order that is opposite to that of their objects.
finalizer()
{
    cat >"$SCRATCH/finalizer.lua" <<END
local function late()
    for i = 1, 3 do pcall(function() return i end) end
    table.sort({ 3, 2, 1 }, function(a, b) return a < b end)
    print "late"
end
if newproxy then
    kept = newproxy(true)
    getmetatable(kept).__gc = late
else
    kept = setmetatable({}, { __gc = late })
end
require "jsprof".start{ output = "$SCRATCH/cap" }
local t = {} for i = 1, 100000 do t[i] = { i } end
END
    rm -f "$SCRATCH/cap"
    MALLOC_PERTURB_=165 preloaded "$SCRATCH/host" closed "$SCRATCH/finalizer.lua" \
        >"$SCRATCH/out" && [ "$(cat "$SCRATCH/out")" = late ] && whole
}

one()
{
    check 'a module with more functions than there are names' crowd
    check 'allocations after the thread ended that made the others' thread_ended
    check 'a finalizer that runs after the end of the recording' finalizer
}

each_version one
finish
