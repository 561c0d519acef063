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

# It forks when there is a file, perhaps in the middle of a recording. The child prints its pid.
{ burn_lua && cat; } >"$SCRATCH/forks.lua" <<'END'
local function in_parent() burn(0.05) end
local function in_child() burn(0.05) end
local function is_there(name)
  local file = io.open(name)
  return file and file:close()
end
repeat in_parent() until is_there(os.getenv "GO")
if fork() ~= 0 then while true do in_parent() end end
print(io.open("/proc/self/stat"):read("*n"))
io.stdout:flush()
while true do in_child() end
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

is_listed() # PID
{
    "$JSPROF_TOOL" ps --csv | grep "^$1,"
}

# Print the child, once it runs.
child_of()
{
    until grep -q '[0-9]' "$SCRATCH/out"; do
        kill -0 "$pid" 2>/dev/null || return 1
        sleep 0.1
    done
    grep -o '[0-9]*' "$SCRATCH/out"
}

begin_to_fork() # CHILDREN
{
    rm -f "$SCRATCH/go"
    GO=$SCRATCH/go JSPROF_CONTROL=1 JSPROF_CHILDREN=$1 \
        LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" "$SCRATCH/host" \
        "$SCRATCH/forks.lua" >"$SCRATCH/out" 2>&1 &
    pid=$!
    until is_listed $pid; do
        kill -0 "$pid" 2>/dev/null || return 1
        sleep 0.1
    done
}

# How often the thread that listens slept so far: never again while nobody asks.
switches_of() # PID
{
    for thread in /proc/"$1"/task/*; do
        [ "$(cat "$thread/comm")" = jsprof-control ] &&
            awk '/^voluntary/ { print $2 }' "$thread/status" && return
    done
    return 1
}

# The fork comes while the parent is recorded. Then each of them is recorded alone.
child_listens()
{
    begin_to_fork 1 || return 1
    (sleep 0.3 && : >"$SCRATCH/go") &
    record_of "$pid" in_parent 1.5
    child_status=$?
    child=$(child_of) && is_listed "$child" && record_of "$child" in_child 0.5 &&
        record_of "$pid" in_parent 0.5 || child_status=1
    woken=$(switches_of "$child") && sleep 0.5 && [ "$(switches_of "$child")" = "$woken" ] ||
        child_status=1
    kill "$child"
    ends
    echo "woken $woken times"
    cat "$SCRATCH/out"
    return $child_status
}

record_of() # PID FUNCTION SECONDS
{
    rm -f "$SCRATCH/cap"
    "$JSPROF_TOOL" record --quiet --seconds "$3" -o "$SCRATCH/cap" "$1" && whole &&
        share_is 90 100 "(^|$t)burn .*forks.lua:1. :[0-9]+$t$2 "
}

# Without being asked to continue there, the session ends in the child, and the parent's stays.
child_is_silent()
{
    begin_to_fork 0 || return 1
    : >"$SCRATCH/go"
    child=$(child_of) && ! is_listed "$child" && record_of "$pid" in_parent 0.5
    child_status=$?
    kill "$child"
    ends
    cat "$SCRATCH/out"
    return $child_status
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

# 0 means no, also where the module is required.
not_asked() # COMMAND...
{
    rm -rf "$XDG_RUNTIME_DIR/jsprof" # of those that were killed
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
    check 'a forked child listens, too, if it is asked to' child_listens
    check 'and does not otherwise' child_is_silent
    check '0 does not listen' not_asked env LUA_INIT='require "jsprof"' \
        LD_PRELOAD="$ASAN_LIBRARY" "$LUA"
}

each_version one
finish
