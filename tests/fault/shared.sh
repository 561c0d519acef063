#!/bin/sh
# fault/shared.sh - several programs that are asked to record into one file: each has a
# whole capture of its own. Seen failing without the lock (the parent's capture is cut and
# written over by the child), without the check of the file's writer (a program that
# executes itself loses its first half), and where a child keeps the lock of its parent.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
"${CC:-gcc}" -O1 -Wall -Werror -pthread -I"$SRCDIR/include" -o "$SCRATCH/share" \
    "$SRCDIR/tests/fault/share_host.c" "$B/lib/libjsprof.a" || exit 1
mkdir "$SCRATCH/in" && cd "$SCRATCH/in" || exit 1

# share MODE... - run it, recorded into e.cap.
share()
{
    JSPROF=e.cap timeout 60 "$SCRATCH/share" "$@" >"$OUT" 2>&1 ||
        fail "share $* ended with $?"
}

# Each "PID PATH" of the output: the capture adds up and has the work of that process alone.
each_has_its_own()
{
    [ -z "$(cut -d ' ' -f 2 "$OUT" | sort | uniq -d)" ] || fail 'two of them have one file'
    while read -r pid path _; do
        "$TOOL" info "$path" >"$OUT.info" 2>&1
        grep -q 'adds up, and the file holds them all' "$OUT.info" || {
            cat "$OUT.info"
            fail "$path of $pid does not add up"
        }
        "$TOOL" dump "$path" | grep -o '[a-z]* of [0-9][0-9]*$' | sort -u >"$OUT.work"
        # On a busy machine the kernel may deliver no signal in 120 ms, and the account says so.
        grep -q " of $pid\$" "$OUT.work" || grep -q 'lost: undelivered' "$OUT.info" ||
            fail "nothing of $pid in $path"
        ! grep -v " of $pid\$" "$OUT.work" || fail "work of another process in $path"
    done <"$OUT"
}

share spawn
each_has_its_own
[ "$(wc -l <"$OUT")" = 2 ] || fail 'not two captures'
said "$(head -n 1 "$OUT" | sed 's/ .*//') $SCRATCH/in/e.cap"
"$TOOL" dump e.cap | grep -q 'before of' || fail 'what the parent did before is not there'

share workers
each_has_its_own
[ "$(grep -c ' other$' "$OUT")" = 3 ] || fail 'three workers, and not three other files'

# On request children record by themselves, and continue in the middle of their work.
JSPROF_CHILDREN=1
export JSPROF_CHILDREN
share forked
each_has_its_own
[ "$(grep -c ' other$' "$OUT")" = 3 ] || fail 'three children, and not three files'
while read -r pid path _; do
    "$TOOL" dump "$path" | grep -q outermost || fail "no caller from before the fork in $path"
    "$TOOL" list "$path" | grep -q turns || fail "no counter in $path"
done <"$OUT"
share spawn
each_has_its_own
share workers
each_has_its_own
unset JSPROF_CHILDREN
JSPROF=e.cap timeout 60 "$SCRATCH/share" forked >"$OUT" 2>&1 && fail 'nobody asked for children'
[ "$(grep -c '^counter: the session belongs to the process that forked$' "$OUT")" = 3 ] ||
    fail 'children that nobody asked for are not inert'

# The program executes itself: process and environment stay, the capture is another.
share become
pid=$(head -n 1 "$OUT" | sed 's/ .*//')
said "$pid $SCRATCH/in/e.cap"
said "$pid $SCRATCH/in/e.cap.$pid other"
"$TOOL" dump e.cap | grep -q "before of $pid" || fail 'the first half was written over'
"$TOOL" dump "e.cap.$pid" | grep -q "work of $pid" || fail 'no second half'

# One session after the other, whose name only the environment knows.
rm -f e.cap*
for form in 0 1; do
    JSPROF_COMPACT=$form
    export JSPROF_COMPACT
    share in_turn
    each_has_its_own
    pid=$(head -n 1 "$OUT" | sed 's/ .*//')
    said "$pid $SCRATCH/in/e.cap"
    said "$pid $SCRATCH/in/e.cap.$pid other"
    [ "$(wc -l <"$OUT")" = 3 ] || fail 'not three captures'
done
unset JSPROF_COMPACT

# Two sessions of one program.
timeout 60 "$SCRATCH/share" twice "$SCRATCH/in/t.cap" >"$OUT" 2>&1 || fail "twice: $?"
[ "$(cut -d ' ' -f 2 "$OUT" | sort -u | wc -l)" = 2 ] || fail 'two sessions, one file'
readable t.cap
readable t.cap.*

# Twenty programs that record at the same time.
: >"$SCRATCH/go"
pids=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    JSPROF=many.cap timeout 100 "$SCRATCH/share" together "$SCRATCH/go" \
        >"$SCRATCH/many.$i" 2>&1 &
    pids="$pids $!"
done
tries=0
while [ "$(cat "$SCRATCH"/many.* | grep -c many.cap)" -lt 20 ] && [ $tries -lt 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
rm "$SCRATCH/go"
for pid in $pids; do
    wait "$pid" || fail "one of twenty ended with $?"
done
cat "$SCRATCH"/many.* >"$OUT"
[ "$(wc -l <"$OUT")" = 20 ] || fail 'not twenty captures'
[ "$(grep -vc ' other$' "$OUT")" = 1 ] || fail 'not one of twenty has the file itself'
each_has_its_own

# Killed, while a child that knows of nothing lives on: the file is free.
rm -f e.cap*
(JSPROF=e.cap "$SCRATCH/share" orphan >"$OUT" 2>&1) 2>/dev/null
share plain
said "$(head -n 1 "$OUT" | sed 's/ .*//') $SCRATCH/in/e.cap"

# A later run writes over an earlier one, as it always did.
share plain
share plain
[ "$(ls -d e.cap* | wc -l)" = 1 ] || fail "a later run took another name: $(ls -d e.cap*)"
each_has_its_own

# No other name: the second one says why it records nothing.
mkfifo pipe
exec 9<>pipe # its reader
timeout 60 "$SCRATCH/share" twice pipe >"$OUT" 2>&1
grep -q '^open: .*/pipe: another process or session records into this file$' "$OUT" ||
    fail 'two sessions write one pipe'
exec 9>&-

[ $FAILED = 0 ]
