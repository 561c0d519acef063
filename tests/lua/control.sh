#!/bin/sh
# control.sh - a Lua program that listens is recorded while it runs, again and again: preloaded into
# a host, required by an interpreter, and under jsprof-lua.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
unset JSPROF JSPROF_CONTROL
export XDG_RUNTIME_DIR="$SCRATCH/run"
mkdir -m 700 "$XDG_RUNTIME_DIR"

{ burn_lua && cat; } >"$SCRATCH/endless.lua" <<'END'
while true do burn(0.05) end
END

ends()
{
    kill "$pid"
    wait "$pid" 2>/dev/null
}

# Record this process and compare.
recorded()
{
    rm -f "$SCRATCH/cap"
    "$JSPROF_TOOL" record --quiet --seconds 0.5 -o "$SCRATCH/cap" "$pid" && whole &&
        share_is 90 100 "(^|$t)burn .*endless.lua:1. :[0-9]+${t}main chunk "
}

# Two recordings one after the other, and the stack at one moment.
listens() # COMMAND...
{
    JSPROF_CONTROL=1 "$@" "$SCRATCH/endless.lua" >"$SCRATCH/out" 2>&1 &
    pid=$!
    listens_tries=0
    until "$JSPROF_TOOL" ps --csv | grep "^$pid,[0-9]*,ready,1,"; do
        kill -0 "$pid" 2>/dev/null && [ $listens_tries -lt 600 ] ||
            { cat "$SCRATCH/out"; return 1; }
        listens_tries=$((listens_tries + 1))
        sleep 0.1
    done
    "$JSPROF_TOOL" ps --csv >"$SCRATCH/ps"
    recorded && recorded && "$JSPROF_TOOL" dump "$pid" >"$SCRATCH/dump"
    listens_status=$?
    ends
    cat "$SCRATCH/out" "$SCRATCH/ps" "$SCRATCH/dump"
    [ $listens_status = 0 ] && [ ! -s "$SCRATCH/out" ] && grep -q 'Lua' "$SCRATCH/ps" &&
        grep -q 'burn (.*endless.lua:1)' "$SCRATCH/dump"
}

# The recording is the program's own: another one is refused, and the file has its samples.
records_itself()
{
    rm -f "$SCRATCH/cap"
    JSPROF_CONTROL=1 JSPROF="$SCRATCH/cap" "$B/bin/jsprof-lua" --version "$VERSION" \
        "$SCRATCH/endless.lua" &
    pid=$!
    until "$JSPROF_TOOL" ps --csv | grep "^$pid,"; do
        kill -0 "$pid" 2>/dev/null || return 1
        sleep 0.1
    done
    "$JSPROF_TOOL" record --seconds 0.1 -o "$SCRATCH/other" "$pid" 2>"$SCRATCH/err"
    records_status=$?
    sleep 0.3
    ends
    [ $records_status = 1 ] && one_line "$SCRATCH/err" "$SCRATCH/cap" && whole
}

refused() # COMMAND...
{
    JSPROF_CONTROL=x "$@" "$SCRATCH/endless.lua" >"$SCRATCH/out" 2>&1 && return 1
    cat "$SCRATCH/out"
    grep -q 'JSPROF_CONTROL=x: 0 or 1 is allowed' "$SCRATCH/out"
}

# 0 means no, also where the module is required.
not_asked() # COMMAND...
{
    JSPROF_CONTROL=0 "$@" -e 'print(io.popen("ls $XDG_RUNTIME_DIR/jsprof 2>&1"):read("*a"))' \
        >"$SCRATCH/out" 2>&1
    cat "$SCRATCH/out"
    ! grep -q '[.]sock' "$SCRATCH/out"
}

one()
{
    build_host plain_host.c || { fail 'a program'; return; }
    check 'a preloaded program is recorded while it runs' listens env \
        LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" "$SCRATCH/host"
    check 'so is an interpreter that requires the module' listens env \
        LUA_INIT='require "jsprof"' LD_PRELOAD="$ASAN_LIBRARY" "$LUA"
    check 'and jsprof-lua' listens "$B/bin/jsprof-lua" --version "$VERSION"
    check 'one that records itself refuses, and names its file' records_itself
    check 'a wrong value is named by the module' refused env LUA_INIT='require "jsprof"' \
        LD_PRELOAD="$ASAN_LIBRARY" "$LUA"
    check 'and by jsprof-lua' refused "$B/bin/jsprof-lua" --version "$VERSION"
    check '0 does not listen' not_asked env LUA_INIT='require "jsprof"' \
        LD_PRELOAD="$ASAN_LIBRARY" "$LUA"
}

each_version one
finish
