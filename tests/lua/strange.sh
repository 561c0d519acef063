#!/bin/sh
# strange.sh - programs that treat Lua or the module unkindly: the recording is right, or one line
# says why there is none, and the program does what it does without us.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

{ burn_lua && echo 'burn(0.2)'; } >"$SCRATCH/burns.lua"

host() # ARGS...: the module is preloaded
{
    rm -f "$SCRATCH/cap"
    JSPROF=$SCRATCH/cap JSPROF_CLOCK=wall \
        LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" \
        timeout 60 "$SCRATCH/host" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
    host_status=$?
    cat "$SCRATCH/out" "$SCRATCH/err"
    return $host_status
}

burns() # [AT LEAST]
{
    share_is "${1:-50}" 100 'burn '
}

# By the wall clock: on a busy machine this thread waits for the other one as long as it likes.
closed_elsewhere()
{
    host closed "$SCRATCH/burns.lua" && [ ! -s "$SCRATCH/err" ] && whole && burns 10
}

# The session goes on after the state is gone, and after it is detached.
detached_late()
{
    rm -f "$SCRATCH/cap"
    "$SCRATCH/host" attached "$SCRATCH/burns.lua" "$SCRATCH/cap" && whole && burns 20
}

# The module's own calls fail one after the other. A start that fails records nothing, and no file
# stays of it.
poor() # OPTIONS OF jsprof.start
{
    cat >"$SCRATCH/poorly.lua" <<LUA
started = false
local jsprof = require "jsprof"
jsprof.start{ output = "$SCRATCH/cap", $1 }
started = true
jsprof.stop()
LUA
    rm -f "$SCRATCH/cap"
    LD_PRELOAD=$ASAN_LIBRARY timeout 100 "$SCRATCH/host" poor "$SCRATCH/poorly.lua" \
        "$SCRATCH/cap" && whole &&
        [ "$(find "$SCRATCH" -maxdepth 1 -name 'cap*' | wc -l)" = 1 ]
}

# With numbers 0 to 2 closed, what the program prints is in no capture.
closed_descriptors()
{
    echo 'burn(0.2) print("x") io.stderr:write("y")' | { burn_lua && cat; } >"$SCRATCH/prints.lua"
    record "$SCRATCH/prints.lua" <&- >&- 2>&-
    whole && burns
}

# The samples that a program does not take count as blocked.
blocked()
{
    rm -f "$SCRATCH/cap"
    JSPROF=$SCRATCH/cap LUA_INIT='require "jsprof"' LD_PRELOAD=$ASAN_LIBRARY \
        "$SCRATCH/host" blocked "$LUA" "$SCRATCH/burns.lua" &&
        "$JSPROF_TOOL" info "$SCRATCH/cap" | tee "$SCRATCH/info" | grep -i blocked
}

exits_in_a_coroutine()
{
    { burn_lua && echo 'coroutine.wrap(function() pcall(function()
        burn(0.2) os.exit(3, true) end) end)()'; } >"$SCRATCH/exits.lua"
    record "$SCRATCH/exits.lua"
    [ $? = 3 ] && whole && burns
}

# A finalizer that fails while it runs, and one that fails while the state closes.
fails_in_a_finalizer()
{
    { burn_lua && cat; } >"$SCRATCH/gc.lua" <<'LUA'
local function bad()
  local p = newproxy and newproxy(true)
  local mt = p and getmetatable(p) or {}
  mt.__gc = function() local x = burn(0.05) error("in a finalizer") end
  return p or setmetatable({}, mt)
end
pcall(function() bad() collectgarbage() collectgarbage() end)
kept = bad()
burn(0.2)
LUA
    stock "$SCRATCH/gc.lua" >"$SCRATCH/plain.out" 2>"$SCRATCH/plain.err"
    gc_plain=$?
    record "$SCRATCH/gc.lua" >"$SCRATCH/out" 2>"$SCRATCH/err"
    [ $? = $gc_plain ] && whole && burns &&
        sed 's/^[^ ]*lua[^ ]*: //' "$SCRATCH/plain.err" >"$SCRATCH/plain.cut" &&
        sed 's/^[^ ]*lua[^ ]*: //' "$SCRATCH/err" | diff "$SCRATCH/plain.cut" -
}

# A copy of the module is required where another one is preloaded.
preloaded_and_required()
{
    mkdir -p "$SCRATCH/copy" && cp "$MODULES/jsprof.so" "$SCRATCH/copy/" || return 1
    { burn_lua && echo "package.cpath = '$SCRATCH/copy/?.so'
        local jsprof = require 'jsprof'
        jsprof.start{ output = '$SCRATCH/cap', clock = 'wall' } burn(0.2) jsprof.stop()"
    } >"$SCRATCH/both.lua"
    rm -f "$SCRATCH/cap"
    LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" \
        timeout 60 "$SCRATCH/host" closed "$SCRATCH/both.lua" && whole && burns || return 1
    host closed "$SCRATCH/both.lua"
    one_line "$SCRATCH/err" 'strange_host: .*jsprof.start: it records already' && whole
}

one()
{
    build_host strange_host.c || { fail 'a program'; return; }
    check 'another thread closes the state' closed_elsewhere
    check 'also where the program attached it itself' detached_late
    check 'an allocator that fails anywhere' poor ''
    check 'so with calls and allocations' poor 'mode = "both", alloc = 1000'
    check 'numbers 0 to 2 are closed' closed_descriptors
    check 'a blocked signal' blocked
    check 'os.exit in a coroutine' exits_in_a_coroutine
    check 'errors in finalizers' fails_in_a_finalizer
    check 'the module is preloaded and required from elsewhere' preloaded_and_required
}

each_version one
finish
