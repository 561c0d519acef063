#!/bin/sh
# serve/record.sh - jsprof ps, record and dump with a Lark program that runs: captures that add up,
# refusals in one line, hosts that hang or are killed.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
lark="$B/bin/lark"

run ps
is_rc 0
run record 1
is_rc 1
says 'jsprof: record: process 1 does not listen'
run dump 999999999
is_rc 1
says 'jsprof: dump: there is no process 999999999'
run record not-a-number
is_rc 2

# A program that runs until it is killed: one function with all of its time.
spin_lark
start "$lark" --profile-control spin.lark
run ps
is_rc 0
has 'Lark'
run record --seconds 1 -o a.cap $pid
is_rc 0
says 'a.cap: '
is_whole a.cap
run report --limit 3 a.cap
has 'spin (spin.lark:1)'

# Again, on the other clock, compact, with the report; and by the environment.
run record --seconds 0.5 --clock wall --compact --report -o b.cap $pid
is_rc 0
has 'elapsed time'
is_whole b.cap

# Both clocks in one capture.
run record --seconds 0.5 --clock cpu,wall -o both.cap $pid
is_rc 0
is_whole both.cap
run report both.cap
has 'elapsed time'
run report --clock cpu both.cap
has 'CPU time'
run record --clock cpu,wall --source timer $pid
is_rc 2
says '--clock=cpu,wall: not together with --source=timer'
stop $pid
JSPROF_CONTROL=1
export JSPROF_CONTROL
start "$lark" spin.lark
unset JSPROF_CONTROL

# A refusal destroys no older capture, and leaves no file.
cp a.cap old.cap
"$jsprof" record --seconds 0 --quiet -o first.cap $pid 2>first.err &
first=$!
until "$jsprof" ps --csv | grep -q ",recording,"; do sleep 0.05; done
run record --seconds 1 -o old.cap $pid
is_rc 1
says 'another command records this process'
cmp -s a.cap old.cap || wrong 'the refused recording replaced a capture'
[ "$(echo old.cap*)" = old.cap ] || wrong "leaves $(echo old.cap*)"
until [ -s first.cap ] && "$jsprof" report first.cap >/dev/null 2>&1; do sleep 0.05; done
kill -INT $first
wait $first || wrong 'the interrupted recording fails'
is_whole first.cap

# Under nohup a hangup does not end it.
(trap '' HUP; exec "$jsprof" record --seconds 0 --quiet -o hung.cap $pid) 2>err &
first=$!
until "$jsprof" ps --csv | grep -q ",recording,"; do sleep 0.05; done
kill -HUP $first
ran='record under nohup'
until "$jsprof" report hung.cap >/dev/null 2>&1 || ! kill -0 $first; do sleep 0.05; done
"$jsprof" ps --csv | grep -q ",recording," || wrong 'ends with a hangup'
kill -TERM $first
wait $first || wrong 'fails'
is_whole hung.cap

# Where it is now: VM frames and C frames in one stack.
run dump $pid
is_rc 0
has "thread $pid main"
has 'spin (spin.lark:1)'
has 'main  [lark]'
run dump --csv $pid
grep -q "^$pid,$pid,\"main\",.*\"spin (spin.lark:1)\",,[1-9]*,jit\$" out ||
    wrong 'has no row of spin'

# To standard output, and into a full disk.
"$jsprof" record --seconds 0.5 -o - $pid >piped.cap 2>/dev/null
is_whole piped.cap
run record --seconds 0.2 -o /dev/full $pid
is_rc 1
says 'no space left on device'
run record --seconds 0.2 -o /nowhere/x.cap $pid
is_rc 1

# A host that is killed leaves what was written.
"$jsprof" record --seconds 30 -o killed.cap $pid 2>killed.err &
first=$!
until [ -s killed.cap ] && "$jsprof" report killed.cap >/dev/null 2>&1; do sleep 0.1; done
kill -KILL $pid
wait $first || wrong 'the recording of a killed process fails'
ran='record of a killed process'
cp killed.err err
says 'ended without closing its session'
run report killed.cap
is_rc 0
# Its socket is stale, and is removed.
[ -S "$XDG_RUNTIME_DIR/jsprof/$pid.sock" ] || wrong 'has no socket that is stale'
run ps --csv
! grep -q "^$pid," out || wrong 'lists a process that was killed'
[ ! -e "$XDG_RUNTIME_DIR/jsprof/$pid.sock" ] || wrong 'leaves a stale socket'

# A host that executes another program meanwhile is as one that is killed.
start "$B/tests/fault/listen_host" exec go
"$jsprof" record --seconds 60 -o exec.cap $pid 2>killed.err &
first=$!
until [ -s exec.cap ] && "$jsprof" report exec.cap >/dev/null 2>&1; do sleep 0.1; done
: >go
wait $first || wrong 'the recording of a process that executes a program fails'
ran='record of a process that executes a program'
cp killed.err err
says 'ended without closing its session'
run report exec.cap
is_rc 0
run ps --csv
! grep -q "^$pid," out || wrong 'lists what listens no more'
kill -0 $pid || wrong 'the program that was executed has ended'
stop $pid

# Tasks and allocations are in it if the host opened its session with them.
cat >ticks.lark <<'END'
fn tick(n) {
    let list = array(1000, 0.0);
    for i = 0, 100000 { list[i % 1000] = 1.5 * i; }
    after(1, tick, n + 1);
    return nil;
}
after(1, tick, 0);
END
start "$lark" --profile-control --profile-tasks --profile-alloc=1000 ticks.lark
run record --seconds 1 -o tasks.cap $pid
is_rc 0
run loop --csv tasks.cap
grep -q '^"timeout","tick (ticks.lark:1)",[1-9]' out || wrong 'has no runs of tasks'
is_whole tasks.cap
grep -q 'allocated *[1-9][0-9,]* sampled' out || wrong 'has no allocations'

# Asked for, they are the same; and only long turns, if that is asked for, in this recording.
run record --tasks --alloc --seconds 0.3 -o tasks.cap $pid
is_rc 0
run record --stalls 1us --seconds 1 -o all.cap $pid
is_rc 0
run info all.cap
has 'only turns of a loop that took longer than 0.001 ms'
run record --stalls 3600s --seconds 0.3 -o none.cap $pid
is_rc 0
run stalls --csv none.cap
! grep -q tick out || wrong 'has turns that are not long'
run record --seconds 0.3 -o tasks.cap $pid
is_rc 0
run info tasks.cap
! grep -q 'only turns of a loop' out || wrong 'stall mode does not end with its recording'
run record --stalls 5 $pid
is_rc 2
says '--stalls wants a time from 1us to 3600s, such as 16ms, not "5"'
stop $pid

# A process that is stopped gives no answer, and nothing waits for ever.
start "$lark" --profile-control spin.lark
halt()
{
    kill -STOP $pid
    while cat /proc/$pid/task/*/status | grep '^State:' | grep -qv '(stopped)'; do sleep 0.05; done
}
halt
run ps
is_rc 0
has silent
run record --seconds 1 -o c.cap $pid
is_rc 1
says 'it gives no answer'
kill -CONT $pid
run record --seconds 0.3 -o c.cap $pid
is_rc 0
is_whole c.cap

# Nor does it wait for one that is stopped meanwhile: not when the time is over, ...
midway() # COMMAND...: it is run in the background, as $command, and its process is stopped
{
    timeout --foreground -s KILL 60 "$jsprof" "$@" $pid >out 2>err &
    command=$!
    ran="jsprof $*, stopped meanwhile"
    until "$jsprof" ps --csv | grep -q "^$pid,[0-9]*,recording" ||
        ! kill -0 $command 2>/dev/null; do sleep 0.05; done
}
gives_up()
{
    rc=0
    wait $command || rc=$?
    kill -CONT $pid
}
for ask in 'record --seconds 4 -o late.cap' 'top --once --seconds 4'; do
    # shellcheck disable=SC2086
    midway $ask
    halt
    gives_up
    is_rc 1
    says "process $pid (lark): it gives no answer"
    [ "$(wc -l <err)" = 1 ] || wrong 'says more than one line'
    until "$jsprof" ps --csv | grep -q "^$pid,[0-9]*,ready"; do sleep 0.05; done
done

# ... and not after a signal. What it had written is kept.
for signal in INT TERM; do
    rm -f kept.cap
    midway record --seconds 0 -o kept.cap
    until [ -s kept.cap ] && "$jsprof" report kept.cap >/dev/null 2>&1; do sleep 0.1; done
    halt
    kill -$signal $command
    gives_up
    is_rc 1
    says 'it gives no answer; kept.cap holds what it had written'
    [ "$(wc -l <err)" = 1 ] || wrong 'says more than one line'
    run report kept.cap
    is_rc 0
    has 'spin (spin.lark:1)'
    until "$jsprof" ps --csv | grep -q "^$pid,[0-9]*,ready"; do sleep 0.05; done
done
exit $bad
