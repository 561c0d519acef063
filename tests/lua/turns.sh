#!/bin/sh
# turns.sh - a program that makes one Lua state after the other: each has a capture of its own, and
# a hundred thousand of them (LONG=1, else a few hundred) take no more memory than a few. Those that
# listen begin and end a thread each, so there are a fifth as many.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
MANY=500
[ -z "${LONG:-}" ] || MANY=100000

cat >"$SCRATCH/burns.lua" <<'END'
local text = [[return function(seconds)
  local x, start = 0, os.clock()
  repeat for i = 1, 20000 do x = x + i % 7 end until os.clock() - start > seconds
  return x
end]]
local load = loadstring or load
load(text, "=turn" .. string.format("%d", turn))()(0.2)
END
: >"$SCRATCH/nothing.lua"

# The folder $SCRATCH/in has the captures.
turns() # COUNT SCRIPT VARIABLE=VALUE...
{
    turns_count=$1 turns_script=$2
    shift 2
    rm -rf "$SCRATCH/in" && mkdir "$SCRATCH/in"
    (cd "$SCRATCH/in" && exec env LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" \
        JSPROF_CLOCK=wall "$@" "$SCRATCH/host" "$SCRATCH/$turns_script" "$turns_count") \
        >"$SCRATCH/out" 2>"$SCRATCH/err"
    turns_status=$?
    cat "$SCRATCH/out" "$SCRATCH/err"
    return $turns_status
}

# The capture has samples of this turn alone.
is_of_turn() # NUMBER FILE
{
    "$JSPROF_TOOL" report --csv --limit 0 "$2" >"$SCRATCH/report" &&
        [ "$(grep -o 'turn[0-9]*:' "$SCRATCH/report" | sort -u)" = "turn$1:" ] ||
        { cat "$SCRATCH/report"; return 1; }
}

each_has_a_file() # COMPACT
{
    turns 3 burns.lua JSPROF=cap JSPROF_COMPACT="$1" || return 1
    (cd "$SCRATCH/in" && ls) >"$SCRATCH/names"
    cat "$SCRATCH/names"
    each_pid=$(sed -n 's/^cap[.]\([0-9]*\)$/\1/p' "$SCRATCH/names")
    [ "$(tr '\n' ' ' <"$SCRATCH/names")" = "cap cap.$each_pid cap.$each_pid.2 " ] &&
        one_line "$SCRATCH/err" "^jsprof: .*/in/cap has another recording: this Lua state is $(
        )recorded into .*/in/cap.$each_pid, later ones into further files beside it$" &&
        is_of_turn 1 "$SCRATCH/in/cap" && is_of_turn 2 "$SCRATCH/in/cap.$each_pid" &&
        is_of_turn 3 "$SCRATCH/in/cap.$each_pid.2"
}

# A later run has the file, and the same names or others.
later_run_has_the_file()
{
    (cd "$SCRATCH/in" && JSPROF=cap JSPROF_CLOCK=wall "$JSPROF_LUA" --version "$VERSION" -e '
        turn = 4 dofile("../burns.lua")') && is_of_turn 4 "$SCRATCH/in/cap"
}

# There are a thousand names.
names_end()
{
    turns 1010 nothing.lua JSPROF=cap || return 1
    [ "$(find "$SCRATCH/in" -name 'cap*' | wc -l)" = 1000 ] &&
        [ "$(wc -l <"$SCRATCH/err")" = 3 ] &&
        sed -n 2p "$SCRATCH/err" | grep -q '/cap: 1000 Lua states have a capture each; later ' &&
        sed -n 3p "$SCRATCH/err" | grep -q '^jsprof: 10 Lua states were not recorded$' &&
        find "$SCRATCH/in" -name 'cap*.999' | grep -q . &&
        for names_file in "$SCRATCH/in/cap" "$SCRATCH"/in/cap*.999; do
            "$JSPROF_TOOL" info "$names_file" >/dev/null || return 1
        done
}

# A wrong value is the same for all.
refused_once()
{
    turns 30 nothing.lua JSPROF=cap JSPROF_HZ=x &&
        one_line "$SCRATCH/err" 'jsprof: nothing is recorded: .*JSPROF_HZ=x'
}

# After the first tenth of the states the process has grown by 4 MiB at most. Most of that is what
# malloc keeps of the tables of names: one state in six has a sample and reads them.
memory_is_bounded() # COUNT VARIABLE=VALUE...
{
    bounded_count=$1
    shift
    turns "$bounded_count" nothing.lua "$@" && [ ! -s "$SCRATCH/err" ] &&
        awk '{ exit !($3 < 4096) }' "$SCRATCH/out"
}

coroutines()
{
    { burn_lua && cat; } >"$SCRATCH/coroutines.lua" <<'END'
local function inside(n) coroutine.yield(n) return n end
local sum = 0
for i = 1, tonumber(arg[1]) do
  local co = coroutine.create(inside)
  coroutine.resume(co, i)
  local _, n = coroutine.resume(co)
  sum = sum + n
end
burn(0.3)
assert(sum == arg[1] * (arg[1] + 1) / 2)
END
    record "--profile-mode=$1" --profile-clock=wall "$SCRATCH/coroutines.lua" "$MANY" && whole
}

# The table has each call of each coroutine.
coroutines_are_counted()
{
    coroutines both && "$JSPROF_TOOL" calls --csv "$SCRATCH/cap" >"$SCRATCH/calls" || return 1
    grep '"inside"' "$SCRATCH/calls"
    grep -q "^\"inside\",.*,$MANY," "$SCRATCH/calls"
}

has_ended=
one()
{
    build_host plain_host.c || { fail 'a program'; return; }
    JSPROF_LUA=$B/bin/jsprof-lua
    check 'each state has a file' each_has_a_file 0
    check 'a later run has the file again' later_run_has_the_file
    check 'each has one in the compact form' each_has_a_file 1
    # The same code counts in each Lua.
    [ -n "$has_ended" ] || check 'what comes after a thousand states is told and counted' names_end
    has_ended=yes
    check 'a wrong value is told once' refused_once
    # The sanitizer keeps what is freed.
    [ -n "$ASAN_LIBRARY" ] || {
        check "$MANY states take no more memory" memory_is_bounded "$MANY" JSPROF=/dev/null
        check 'nor do states that listen' memory_is_bounded $((MANY / 5)) JSPROF_CONTROL=1 \
            XDG_RUNTIME_DIR="$SCRATCH"
        check 'nor those that nobody asks for' memory_is_bounded "$MANY" JSPROF=
    }
    check 'coroutines by the hundred' coroutines sample
    check 'each call of them is counted' coroutines_are_counted
}

each_version one
finish
