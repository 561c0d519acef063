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

checked() # NAME: its capture
{
    [ "$(tail -n 1 "$OUT")" = done ] || fail "the host did not finish its work: $1"
    "$TOOL" info "$JSPROF" >"$OUT" 2>&1 || fail "jsprof info refuses the capture: $1"
    grep -q 'lost: adds up, and the file holds them all' "$OUT" || fail "the account of $1"
    grep -q 'source *looker' "$OUT" || fail "not the looker: $1"
    awk '$2 ~ /^(main|naps|spins)$/ { n += $3 > 0 } END { exit n != 3 }' "$OUT" ||
        { [ "$JSPROF_CLOCK" = cpu ] || fail "a thread without samples: $1"; }
    tried=$((tried + 1))
}

under() # TOOL ARGUMENT...
{
    command -v "$1" >/dev/null || { echo "# needs $1"; return; }
    JSPROF=$SCRATCH/$1.$JSPROF_CLOCK.cap
    rm -f "$JSPROF"
    timeout 100 "$@" >"$OUT" 2>&1 || fail "status $? under $1"
    grep -v '^\[Inferior\|^$\|^\[Thread\|^\[New\|warning' "$OUT" >"$OUT.host"
    mv "$OUT.host" "$OUT"
    checked "$1, $JSPROF_CLOCK"
    # A thread that stops at each signal has the time in which it stood, too.
    [ "$1-$JSPROF_CLOCK" != strace-wall ] ||
        awk '{ gsub(",", "") } $2 == "spins" { bad = $5 > 25 + $4 / 20 } END { exit bad }' "$OUT" ||
        fail "the points of a thread that runs under $1"
}

# A debugger looks at a program that runs, and leaves it.
visited()
{
    command -v gdb >/dev/null || { echo '# needs gdb'; return; }
    JSPROF=$SCRATCH/visited.$JSPROF_CLOCK.cap
    "$TRACED" 1500 >"$OUT" 2>&1 &
    traced=$!
    until grep -q begun "$OUT"; do sleep 0.05; done
    for i in 1 2; do
        timeout 60 gdb -nx -batch -p $traced -ex 'thread apply all backtrace 3' \
            >"$SCRATCH/gdb" 2>&1
        grep -q '#0' "$SCRATCH/gdb" || echo '# gdb was not allowed to attach, or came too late'
    done
    wait $traced || fail "status $? after gdb had been there"
    checked "a visit of gdb, $JSPROF_CLOCK"
}

for JSPROF_CLOCK in cpu wall; do
    under strace -f -o /dev/null "$TRACED" 300
    under gdb -nx -batch -ex run --args "$TRACED" 300
    under valgrind -q "$TRACED" 300
    visited
done
[ $tried -gt 0 ] || { echo 'SKIP: needs gdb, strace or valgrind'; exit 77; }
echo "$tried runs under gdb, strace and valgrind"
exit $FAILED
