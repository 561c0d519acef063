#!/bin/sh
# fault/traced.sh - under gdb, strace and valgrind, and while gdb comes and goes, the looker
# records both clocks, the program ends well and the account adds up.
#
# SPDX-License-Identifier: MIT
set -u
. "$SRCDIR/tests/fault/lib.sh"
TRACED=$B/tests/fault/traced_host
JSPROF_SOURCE=looker
export JSPROF JSPROF_CLOCK JSPROF_SOURCE
tried=0
# On the wall clock each look is at all three threads. Chance: a thread, which has a third of the
# samples, has none of 40 in 1 of 10,000,000 runs.
samples_cpu=3 samples_wall=20

checked() # NAME: what holds for each capture, however busy the machine is
{
    grep -q 'done$' "$OUT" || fail "the host did not finish its work: $1"
    "$TOOL" info "$JSPROF" >"$OUT" 2>&1 || fail "jsprof info refuses the capture: $1"
    grep -q 'lost: adds up, and the file holds them all' "$OUT" || fail "the account of $1"
    grep -q 'source *looker' "$OUT" || fail "not the looker: $1"
    tried=$((tried + 1))
}

# The threads have samples: all on the wall clock, one that runs on the CPU clock. (Which one is
# the scheduler's choice: strace holds a thread at each of its calls and signals.)
sampled()
{
    awk -v wall=$([ "$JSPROF_CLOCK" = cpu ] || echo 1) '{ gsub(",", "") }
        $2 == "spins" || $2 == "main" || $2 == "naps" { n += $3 > 0 }
        END { exit !(wall ? n == 3 : n > 0) }' "$OUT"
}

# The program goes on until it has samples: valgrind runs one thread at a time, and on a busy
# machine the looker has few turns then, 6 in 1 s were seen.
under() # TOOL ARGUMENT...
{
    command -v "$1" >/dev/null || { echo "# needs $1"; return; }
    JSPROF=$SCRATCH/$1.$JSPROF_CLOCK.cap
    timeout 200 "$@" "$TRACED" $SAMPLES >"$OUT" 2>&1 || fail "status $? under $1"
    checked "$1, $JSPROF_CLOCK"
    sampled || fail "the samples of a thread: $1, $JSPROF_CLOCK"
}

# A debugger looks at a program that runs, and leaves it.
visited()
{
    command -v gdb >/dev/null || { echo '# needs gdb'; return; }
    JSPROF=$SCRATCH/visited.$JSPROF_CLOCK.cap
    rm -f "$SCRATCH/left"
    "$TRACED" $SAMPLES "$SCRATCH/left" >"$OUT" 2>&1 &
    traced=$!
    until grep -q begun "$OUT" || ! kill -0 $traced 2>/dev/null; do sleep 0.05; done
    for i in 1 2; do
        timeout 60 gdb -nx -batch -p $traced -ex 'thread apply all backtrace 3' \
            >"$SCRATCH/gdb" 2>&1
        if grep -q 'not permitted' "$SCRATCH/gdb"; then
            echo '# gdb is not allowed to attach'
        else
            grep -q '#0' "$SCRATCH/gdb" || { cat "$SCRATCH/gdb"; fail "gdb saw nothing"; }
        fi
    done
    : >"$SCRATCH/left"
    wait $traced || fail "status $? after gdb had been there"
    checked "a visit of gdb, $JSPROF_CLOCK"
    sampled || fail "the samples of a thread: a visit of gdb, $JSPROF_CLOCK"
}

for JSPROF_CLOCK in cpu wall; do
    SAMPLES=$samples_wall
    [ $JSPROF_CLOCK = wall ] || SAMPLES=$samples_cpu
    under strace -f -o /dev/null
    under gdb -nx -batch -ex run --args
    under valgrind -q
    visited
done
[ $tried -gt 0 ] || { echo 'SKIP: needs gdb, strace or valgrind'; exit 77; }
echo "$tried runs under gdb, strace and valgrind"
exit $FAILED
