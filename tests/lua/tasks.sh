#!/bin/sh
# tasks.sh - what a Lua program schedules is in the capture, if asked for: each coroutine and each
# callback of a loop in C, how often it ran, who made it and who resumed it, as the script's own
# log has it; and nothing that a program does wrong with them changes it, or is followed.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

PASSES=${LONG:+100}
PASSES=${PASSES:-3}

recorded() # SCRIPT ARGS...
{
    script=$1
    shift
    record --profile-tasks "$SCRIPTS/$script" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" ||
        { cat "$SCRATCH/out" "$SCRATCH/err"; return 1; }
    looped && whole
}

looped()
{
    "$JSPROF_TOOL" loop --limit 0 --csv "$SCRATCH/cap" | tr -d '"' >"$SCRATCH/loop" &&
        cat "$SCRATCH/loop"
}

runs() # KIND NAME: how often it ran
{
    awk -F, -v kind="$1" -v name="$2 (" '
        $1 == kind && index($2, name) == 1 { n += $4 } END { print n + 0 }' "$SCRATCH/loop"
}

# Each line of the file has a name and a number.
as_counted() # FILE
{
    cat "$1"
    awk -F '[\t ,]+' 'NR == FNR { want[$1] = $2; n++; next }
        FNR == 1 { next }
        { line = $0; sub(/^[^,]*,/, "", line); name = line; sub(/ .*/, "", name)
          sub(/^[^)]*[)],/, "", line); split(line, f, ","); seen[name] += f[2] }
        END { for (i in seen) ok += seen[i] == want[i]
              print ok, "of", n; exit !(n && ok == n) }' "$1" "$SCRATCH/loop"
}

# The interpreter runs the same script; addresses differ.
as_without_us()
{
    "$LUA" "$SCRIPTS/tasks_coroutines.lua" 2>&1 >"$SCRATCH/plain" | diff "$SCRATCH/err" - &&
        sed 's/0x[0-9a-f]*//' "$SCRATCH/plain" >"$SCRATCH/want" &&
        sed 's/0x[0-9a-f]*//' "$SCRATCH/out" | diff "$SCRATCH/want" -
}

# `third` was made by `second`, in `spawn`, and that by `first`.
made_where()
{
    "$JSPROF_TOOL" causes --limit 0 "$SCRATCH/cap" third >"$SCRATCH/causes"
    cat "$SCRATCH/causes"
    sed -n 's/^  \(by \)\{0,1\}coroutine \([a-z]*\) (.*:\([0-9]*\))$/\2 \3/p' \
        "$SCRATCH/causes" | tr '\n' ' ' >"$SCRATCH/chain"
    [ "$(cat "$SCRATCH/chain")" = 'third 18 second 23 first 29 ' ] &&
        grep -q 'made in coroutine.create (.C.) ← spawn (.*:14) ← second' "$SCRATCH/causes"
}

resumed_by()
{
    "$JSPROF_TOOL" causes --limit 0 "$SCRATCH/cap" numbers | tee "$SCRATCH/causes"
    grep -q 'coroutine user' "$SCRATCH/causes"
}

# From the last one back to the first.
chained()
{
    for pass in $(seq $PASSES); do
        recorded tasks_luv.lua 4 >"$SCRATCH/rec.out" || { cat "$SCRATCH/rec.out"; return 1; }
        "$JSPROF_TOOL" causes --limit 0 "$SCRATCH/cap" sleeper >"$SCRATCH/causes"
        awk -v RS= '{ n = gsub(/\n  by [^\n]*tasks_luv.lua/, "&") }
            n > most { most = n; text = $0 }
            END { print text }' "$SCRATCH/causes" |
            sed -n 's/^  \(by \)\{0,1\}[^ ]* \([a-z]*\) (.*tasks_luv.lua.*/\2/p' >"$SCRATCH/seen"
        awk '$0 != "waked" && !($0 == "sleeper" && last == "waked") { line[++n] = $0 }
            { last = $0 }
            END { for (i = n; i; i--) print line[i] }' "$SCRATCH/out" |
            diff - "$SCRATCH/seen" || { cat "$SCRATCH/causes"; echo "pass $pass"; return 1; }
    done
}

by_function_of_luv()
{
    cat "$SCRATCH/loop"
    [ "$(runs luv.timer_start tick)" = 4 ] && [ "$(runs luv.timer_start wake)" = 4 ] &&
        [ "$(runs luv.fs_stat stated)" = 4 ] && [ "$(runs luv.new_work worked)" = 4 ] &&
        [ "$(runs coroutine sleeper)" = 8 ]
}

by_environment()
{
    rm -f "$SCRATCH/cap"
    JSPROF=$SCRATCH/cap JSPROF_TASKS=1 LUA_INIT='require "jsprof"' \
        "$LUA" "$SCRIPTS/tasks_coroutines.lua" >"$SCRATCH/out" 2>"$SCRATCH/err" && looped &&
        as_counted "$SCRATCH/err"
}

# The functions are the program's own, and there is no task.
off()
{
    cat >"$SCRATCH/off.lua" <<'LUA'
local jsprof = require "jsprof"
local create, resume, wrap = coroutine.create, coroutine.resume, coroutine.wrap
jsprof.start{ output = arg[1] }
assert(create == coroutine.create and resume == coroutine.resume and wrap == coroutine.wrap)
coroutine.wrap(function() end)()
jsprof.stop()
LUA
    rm -f "$SCRATCH/cap"
    "$LUA" "$SCRATCH/off.lua" "$SCRATCH/cap" && ! info_has ' tasks '
}

# The recording ends inside a task, and another one begins there.
stops_inside()
{
    cat >"$SCRATCH/stops.lua" <<'LUA'
local jsprof = require "jsprof"
local function inner()
  coroutine.yield()
  jsprof.stop()
  jsprof.start{ output = arg[2], tasks = true }
  coroutine.yield()
end
local function later() coroutine.yield() end
jsprof.start{ output = arg[1], tasks = true }
local outer = coroutine.wrap(function()
  local co = coroutine.wrap(inner)
  co() co() co()
  local l = coroutine.wrap(later)
  l() l()
end)
outer()
jsprof.stop()
LUA
    rm -f "$SCRATCH/cap" "$SCRATCH/cap2"
    "$LUA" "$SCRATCH/stops.lua" "$SCRATCH/cap" "$SCRATCH/cap2" && looped &&
        [ "$(runs coroutine inner)" = 2 ] && whole && mv "$SCRATCH/cap2" "$SCRATCH/cap" && looped &&
        [ "$(runs coroutine later)" = 2 ] && [ "$(runs coroutine inner)" = 1 ] && whole
}

# So many coroutines are open at once; each is a task that ran once. What the file has and what was
# lost add up.
a_million_open()
{
    cat >"$SCRATCH/million.lua" <<'LUA'
local open, n = {}, tonumber(arg[1])
local function waits() coroutine.yield() end
for i = 1, n do
  open[i] = coroutine.create(waits)
  coroutine.resume(open[i])
end
LUA
    n=${LONG:+1000000}
    n=${n:-100000}
    record --profile-tasks "$SCRATCH/million.lua" "$n" && looped || return 1
    "$JSPROF_TOOL" info "$SCRATCH/cap" | grep tasks
    lost=$("$JSPROF_TOOL" info "$SCRATCH/cap" |
        sed -n 's/^  tasks  *\([0-9,]*\) records lost.*/\1/p' | tr -d ,)
    ran=$(runs coroutine waits)
    echo "ran $ran lost ${lost:=0} of $n"
    [ "$ran" -le "$n" ] && [ $((ran + lost)) -ge "$n" ]
}

# An error ends a call of lpeg without a return, so its run has no end of its own; later runs are
# not inside it.
after_a_jump()
{
    cat >"$SCRATCH/jump.lua" <<'LUA'
local lpeg, jsprof = require "lpeg", require "jsprof"
jsprof.start{ output = arg[1], tasks = true }
local function raises() error "bad" end
local function fine() return true end
local bad, good = lpeg.Cmt(lpeg.P(1), raises), lpeg.Cmt(lpeg.P(1), fine)
local function deeper(n)
  if n > 0 then return (deeper(n - 1)) end
  assert(not pcall(lpeg.match, bad, "x"))
end
for _ = 1, 3 do
  deeper(5)
  assert(lpeg.match(good, "x"))
end
jsprof.stop()
LUA
    rm -f "$SCRATCH/cap"
    "$LUA" "$SCRATCH/jump.lua" "$SCRATCH/cap" && looped && whole &&
        [ "$(runs 'lpeg callback' raises)" = 3 ] && [ "$(runs 'lpeg callback' fine)" = 3 ] &&
        awk -F, '/fine/ { exit !($5 == $6) }' "$SCRATCH/loop"
}

# A fork inside a task: the child's capture has the run, and its own.
fork_inside()
{
    cat >"$SCRATCH/forks.lua" <<LUA
local jsprof = require "jsprof"
jsprof.start{ output = "$SCRATCH/cap", tasks = true, children = true }
local function in_child() coroutine.yield() end
local function forks()
  coroutine.yield()
  assert(fork(function()
    local co = coroutine.wrap(in_child)
    co() co()
  end))
  coroutine.yield()
end
local co = coroutine.wrap(forks)
co() co() co()
jsprof.stop()
LUA
    rm -f "$SCRATCH"/cap*
    build_host plain_host.c && "$SCRATCH/host" "$SCRATCH/forks.lua" && looped && whole &&
        [ "$(runs coroutine forks)" = 3 ] && [ "$(runs coroutine in_child)" = 0 ] || return 1
    mv "$SCRATCH"/cap.* "$SCRATCH/cap" && looped && whole &&
        [ "$(runs coroutine in_child)" = 2 ]
}

# Only the long runs are there. A quick one takes 1 ms: the machine must stop it for 199 ms before
# it counts as long.
stalls()
{
    cat >"$SCRATCH/stalls.lua" <<'LUA'
local function spin(seconds)
  local since = os.clock()
  repeat until os.clock() - since > seconds
end
local function quick() spin(0.0005) coroutine.yield() spin(0.0005) end
local function slow() spin(0.25) coroutine.yield() spin(0.0005) end
for i = 1, 30 do
  local co = coroutine.create(i == 15 and slow or quick)
  coroutine.resume(co)
  coroutine.resume(co)
end
LUA
    record --profile-clock=wall --profile-stalls=200ms "$SCRATCH/stalls.lua" && looped &&
        [ "$(runs coroutine slow)" = 1 ] && [ "$(runs coroutine quick)" = 0 ]
}

turns() # how many turns the capture has
{
    "$JSPROF_TOOL" info "$SCRATCH/cap" |
        sed -n 's/^ *tasks .* runs*, \([0-9,]*\) turns*.*/\1/p' | tr -d ,
}

# Each wait of the loop ends a turn and begins one, wherever the loop runs. A timer that repeats
# five times has five, also where a late machine joins others.
has_turns() # AT-LEAST SCRIPT ARGS...
{
    least=$1
    shift
    recorded "$@" && n=$(turns) && echo "turns $n" && [ "$n" -ge "$least" ]
}

# A timer was late by no more than what the script says, so not by the 50 ms for which it was asked,
# too. The script counts from the loop's own time, in whole ms, until inside of the callback.
timely()
{
    cat "$SCRATCH/out"
    awk -F, -v late="$(sed -n 's/^late //p' "$SCRATCH/out")" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } index($2, "tick (") == 1 {
            seen = $at["delays"] == 5 && $at["delay_max_ns"] <= (late + 1) * 1e6 }
        END { exit !seen }' "$SCRATCH/loop"
}

# Two runs of 100 ms are one turn that took more than 150.
stalled_turn() # ARGS...
{
    record --profile-clock=wall --profile-stalls=150ms "$SCRIPTS/tasks_turns.lua" "$@" && looped &&
        [ "$(runs luv.timer_start first)" = 1 ] && [ "$(runs luv.timer_start second)" = 1 ] &&
        [ "$(runs luv.timer_start quick)" = 0 ] && [ "$(turns)" -ge 1 ] &&
        info_has 'left out, because no turn took too long'
}

TRIED=0
one()
{
    export LUA_CPATH="$MODULES/?.so;;"
    check 'a program with coroutines' recorded tasks_coroutines.lua
    check 'it runs as without us' as_without_us
    check 'each coroutine ran as often as it says' as_counted "$SCRATCH/err"
    check 'the chain says who made it' made_where
    check 'and who resumed it' resumed_by
    check 'the environment asks' by_environment
    check 'without a request nothing is replaced' off
    check 'a recording may end in a task' stops_inside
    check 'coroutines that never end' a_million_open
    check 'a fork in a task' fork_inside
    check 'a stall is found' stalls
    "$LUA" -e 'require "lpeg"' 2>/dev/null && check 'an error ends a run' after_a_jump
    if "$LUA" -e 'require "luv"' 2>/dev/null; then
        TRIED=$((TRIED + 1))
        check 'the chain of causes is the log of a program of luv' chained
        check 'each has the name of what took it' by_function_of_luv
        check 'a loop of luv has turns' has_turns 5 tasks_turns.lua
        check 'a timer is not late by the time for which it was asked' timely
        check 'a loop in a coroutine has turns' has_turns 5 tasks_turns.lua inside
        check 'a long turn of quick callbacks is a stall' stalled_turn
        check 'in a coroutine, too' stalled_turn inside
        check 'a server of luv under load' recorded tasks_server.lua 20 50
        check 'each callback ran as often as it says' as_counted "$SCRATCH/out"
    fi
    "$LUA" -e 'require "cqueues"' 2>/dev/null || return
    check 'a program of cqueues' recorded tasks_cqueues.lua
    check 'each of its coroutines ran as often as it says' as_counted "$SCRATCH/out"
    n=$(turns)
    check 'its loop has turns' [ "${n:-0}" -ge 3 ]
}

each_version one
[ $TRIED -gt 0 ] || MISSING="$MISSING lua-luv"
finish
