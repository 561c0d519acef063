#!/bin/sh
# fault/killed.sh - SIGKILL in the middle: the capture reads up to its last flush, and there
# is one every second. Seen failing with a flush every two.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

killed() # COMPACT: 0 or 1
{
    rm -f "$SCRATCH/x.cap"
    JSPROF=$SCRATCH/x.cap JSPROF_COMPACT=$1 "$HOST" - 60000 >"$OUT" 2>&1 &
    pid=$!
    # Until two flushes are in the file. Another second is for a busy machine.
    size=0 grown=0 last=$(date +%s%3N) longest=0
    while [ $grown -lt 3 ] && kill -0 $pid; do
        now=$(stat -c %s "$SCRATCH/x.cap" 2>/dev/null || echo 0)
        if [ "$now" != "$size" ]; then
            at=$(date +%s%3N)
            [ $grown -lt 1 ] || [ $((at - last)) -lt $longest ] || longest=$((at - last))
            grown=$((grown + 1)) last=$at
        fi
        size=$now
    done
    kill -KILL $pid
    wait $pid 2>/dev/null
    readable "$SCRATCH/x.cap"
    grep -qi 'killed' "$OUT.info" || { cp "$OUT.info" "$OUT"; fail 'info does not say killed'; }
    [ $longest -lt 1900 ] || fail "no flush for $longest ms"
    n=$(samples "$SCRATCH/x.cap")
    [ "$n" -gt 25 ] || fail "only $n samples are left of two flushes"
}
killed 0
killed 1
"$TOOL" info "$SCRATCH/x.cap" | grep -q compact || fail 'it is not compact'

# It can be read long before the first second is over. Seen failing with a first flush
# after 800 ms: the file was empty.
JSPROF=$SCRATCH/z.cap "$HOST" - 60000 >"$OUT" 2>&1 &
pid=$!
until [ -e "$SCRATCH/z.cap" ] || ! kill -0 $pid; do :; done
sleep 0.4
kill -KILL $pid
wait $pid 2>/dev/null
readable "$SCRATCH/z.cap"

# What the host itself recorded and closed does not say so.
host "$SCRATCH/y.cap" 50
readable "$SCRATCH/y.cap"
! grep -qi 'killed' "$OUT.info" || fail 'info says killed of a complete capture'

[ $FAILED = 0 ]
