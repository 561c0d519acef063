#!/bin/sh
# fault/killed.sh - SIGKILL in the middle: the capture reads up to its last flush. How often there
# is one is for tests/bench.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

# Kill the host when three flushes are in the file.
killed() # COMPACT: 0 or 1
{
    rm -f "$SCRATCH/x.cap"
    JSPROF=$SCRATCH/x.cap JSPROF_COMPACT=$1 "$HOST" - 600000 >"$OUT" 2>&1 &
    pid=$!
    size=0 grown=0
    while [ $grown -lt 3 ] && kill -0 $pid; do
        now=$(stat -c %s "$SCRATCH/x.cap" 2>/dev/null || echo 0)
        [ "$now" = "$size" ] || grown=$((grown + 1))
        size=$now
    done
    kill -KILL $pid
    wait $pid 2>/dev/null
}

for compact in 0 1; do
    killed $compact
    readable "$SCRATCH/x.cap"
    grep -qi 'killed' "$OUT.info" || { cp "$OUT.info" "$OUT"; fail 'info does not say killed'; }
    [ "$(samples "$SCRATCH/x.cap")" -gt 0 ] || fail 'no samples are left of what was flushed'
done
"$TOOL" info "$SCRATCH/x.cap" | grep -q compact || fail 'it is not compact'

# What the host itself recorded and closed does not say so.
host "$SCRATCH/y.cap" 50
readable "$SCRATCH/y.cap"
! grep -qi 'killed' "$OUT.info" || fail 'info says killed of a complete capture'

[ $FAILED = 0 ]
