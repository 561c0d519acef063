#!/bin/sh
# fault/killed.sh - SIGKILL in the middle: the capture reads up to its last flush, and there
# is one every second. Seen failing with a flush every two. The host works without a pause, so its
# CPU time is the clock here: on a busy machine the host is as late as the thread that writes.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

killed() # COMPACT: 0 or 1
{
    rm -f "$SCRATCH/x.cap"
    JSPROF=$SCRATCH/x.cap JSPROF_COMPACT=$1 "$HOST" - 60000 >"$OUT" 2>&1 &
    pid=$!
    # Until three flushes are in the file; of what came before the last but one, most is.
    size=0 grown=0 last=0 longest=0 spent=0 due=0
    while [ $grown -lt 3 ] && kill -0 $pid; do
        now=$(stat -c %s "$SCRATCH/x.cap" 2>/dev/null || echo 0)
        if [ "$now" != "$size" ]; then
            at=$(date +%s%3N)
            # One write may be seen at two of its sizes.
            if [ $grown = 0 ] || [ $((at - last)) -ge 200 ]; then
                due=$spent spent=$(cpu_ms $pid)
                [ $grown -lt 1 ] || [ $((spent - due)) -lt $longest ] || longest=$((spent - due))
                grown=$((grown + 1)) last=$at
            fi
        fi
        size=$now
    done
    kill -KILL $pid
    wait $pid 2>/dev/null
}

cpu_ms() # PID - CPU time so far, of all its threads
{
    awk -v hz="$(getconf CLK_TCK)" '{ printf "%d", ($14 + $15) * 1000 / hz }' "/proc/$1/stat"
}

# Timer expirations of all samples, which are a millisecond of CPU time each.
weights() # FILE
{
    "$TOOL" dump "$1" | awk '/ SAMPLE / && match($0, /weight [0-9]+/) {
        n += substr($0, RSTART + 7, RLENGTH - 7) } END { print n + 0 }'
}

for compact in 0 1; do
    killed $compact
    [ $longest -lt 1900 ] || fail "no flush for $longest ms of CPU time"
    readable "$SCRATCH/x.cap"
    grep -qi 'killed' "$OUT.info" || { cp "$OUT.info" "$OUT"; fail 'info does not say killed'; }
    n=$(weights "$SCRATCH/x.cap")
    [ "$due" -gt 0 ] || fail 'no CPU time was spent between two flushes'
    [ "$n" -ge $((due / 2)) ] || fail "only $n ms are left of $due that were flushed"
done
"$TOOL" info "$SCRATCH/x.cap" | grep -q compact || fail 'it is not compact'

# It can be read long before the first second is over. Seen failing with a first flush
# after 800 ms.
rm -f "$SCRATCH/z.cap"
JSPROF=$SCRATCH/z.cap "$HOST" - 60000 >"$OUT" 2>&1 &
pid=$!
until [ -s "$SCRATCH/z.cap" ] || ! kill -0 $pid; do :; done
took=$(cpu_ms $pid)
kill -KILL $pid
wait $pid 2>/dev/null
[ $took -lt 600 ] || fail "nothing was written for $took ms of CPU time"
readable "$SCRATCH/z.cap"

# What the host itself recorded and closed does not say so.
host "$SCRATCH/y.cap" 50
readable "$SCRATCH/y.cap"
! grep -qi 'killed' "$OUT.info" || fail 'info says killed of a complete capture'

[ $FAILED = 0 ]
