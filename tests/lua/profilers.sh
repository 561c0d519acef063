#!/bin/sh
# profilers.sh - beside LuaJIT's own profiler, which wants the same signal: who comes second
# is told so, in one line, and so is whose samples were taken away. Events of the kernel's have a
# signal of their own: beside them both work.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

export SOURCE=timer
LATER='local function burn(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
    local recorded = os.getenv "CAP"
    local jsprof = recorded and require "jsprof"
    if jsprof then jsprof.start{ output = recorded, source = os.getenv "SOURCE" } end
    local function turns(n) local s = os.clock() while os.clock() - s < n do burn(1e5) end end
    turns(0.15)
    require "jit.p".start("f", os.getenv "OTHER")
    turns(0.3)
    require "jit.p".stop()
    turns(0.3)
    if jsprof then print(select(2, pcall(jsprof.stop))) end'

other_holds_it()
{
    printf 'require "jsprof".start{ output = [[%s]], source = "timer" }\n' "$SCRATCH/cap" \
        >"$SCRATCH/first.lua"
    LUA_PATH="/usr/share/luajit-2.1/?.lua;/usr/share/luajit-2.1.0-beta3/?.lua;;" \
        stock -jp=f,"$SCRATCH/other" "$SCRATCH/first.lua" >"$SCRATCH/out" 2>"$SCRATCH/err" &&
        return 1
    head -n 1 "$SCRATCH/err" >"$SCRATCH/line"
    one_line "$SCRATCH/line" 'jsprof.start: .*: another profiler holds SIGPROF .luajit -jp' &&
        [ ! -e "$SCRATCH/cap" ]
}

other_takes_it()
{
    printf '%s\n' "$LATER" >"$SCRATCH/later.lua"
    rm -f "$SCRATCH/cap"
    CAP=$SCRATCH/cap OTHER=$SCRATCH/other stock "$SCRATCH/later.lua" >"$SCRATCH/out" 2>&1
    one_line "$SCRATCH/out" \
        'jsprof.stop: the capture is not complete: another profiler took the signal' &&
        whole && grep -q '% *burn' "$SCRATCH/other"
}

it_is_marked() # NAME
{
    "$JSPROF_TOOL" list "$SCRATCH/cap" >"$SCRATCH/list" 2>&1
    cat "$SCRATCH/list"
    grep -Eq "^Lua / $1 +1 " "$SCRATCH/list"
}

# Killed while the signal is the other's: what was sampled before is in the file. By the CPU
# time it tells: on a busy machine the kernel's tick may not meet 150 ms of it even once.
all_before_is_there()
{
    cat >"$SCRATCH/killed.lua" <<'EOF'
local ffi = require "ffi"
ffi.cdef "int getpid(void); int kill(int pid, int signo);"
local s, x = os.clock(), 0
while os.clock() - s < 0.15 do x = x + 1 end
require "jit.p".start("f", os.getenv "OTHER")
ffi.C.kill(ffi.C.getpid(), 9)
EOF
    OTHER=$SCRATCH/other record "$SCRATCH/killed.lua"
    [ $? = 137 ] || return 1
    "$JSPROF_TOOL" info "$SCRATCH/cap" >"$SCRATCH/info.out" 2>&1
    cat "$SCRATCH/info.out"
    grep -q ' kept + 0 lost: incomplete, and what was counted last' "$SCRATCH/info.out" &&
        awk '$2 == "main" && $(NF - 1) >= 150 && $NF == "ms" { good = 1 }
            END { exit !good }' "$SCRATCH/info.out"
}

program_says_so()
{
    rm -f "$SCRATCH/cap"
    JSPROF=$SCRATCH/cap JSPROF_SOURCE=timer OTHER=$SCRATCH/other \
        "$B/bin/jsprof-lua" --version "$VERSION" "$SCRATCH/later.lua" 2>"$SCRATCH/err" &&
        one_line "$SCRATCH/err" 'jsprof-lua: the capture is not complete: another profiler took'
}

# 0.75 s at 1000 Hz, of which theirs works for 0.3.
both_work()
{
    CAP=$SCRATCH/cap OTHER=$SCRATCH/other SOURCE=auto stock "$SCRATCH/later.lua" \
        >"$SCRATCH/out" 2>&1 && whole || return 1
    grep -q 'source.*perf event' "$SCRATCH/info.out" || return 0
    awk '$1 == "samples" { gsub(",", ""); good = $2 > 500 } END { exit !good }' \
        "$SCRATCH/info.out" && grep -q '% *burn' "$SCRATCH/other"
}

# With LONG=1: this prints the figures for docs/lua.md.
rates()
{
    stock "$SCRIPTS/rates.lua" "$SCRATCH/cap" >"$SCRATCH/out" 2>&1
    cat "$SCRATCH/out" >&3
    awk '$1 == "theirs" && $3 == "ours" && $2 > 0 && $4 > $2 { good = 1 } END { exit !good }' \
        "$SCRATCH/out"
}

one()
{
    check 'ours comes second: one line says why not' other_holds_it
    check 'ours was first: the end says what is missing, theirs works' other_takes_it
    check 'the capture says from when' it_is_marked 'signal taken'
    check 'and until when' it_is_marked 'signal given back'
    check 'jsprof-lua says so' program_says_so
    check 'killed meanwhile, it has all from before' all_before_is_there
    check 'with events, both work' both_work
    [ -z "${LONG:-}" ] || check 'ours takes more samples' rates 3>&1
}

LUA_ONLY=jit
each_version one
finish
