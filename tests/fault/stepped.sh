#!/bin/sh
# fault/stepped.sh - while somebody sets the time of day and the machine is suspended, each clock
# records as before: the looker and the timers read the time that the machine was awake.
#
# SPDX-License-Identifier: MIT
set -u
. "$SRCDIR/tests/fault/lib.sh"
"${CC:-gcc}" -O1 -shared -fPIC -o "$SCRATCH/clocks.so" "$SRCDIR/tests/fault/shim/clocks.c" || exit 1
stepped() { LD_PRELOAD=$SCRATCH/clocks.so "$@"; }

# The steps are there: two dates that are no second apart.
[ "$(stepped date +%s)" -gt $(($(date +%s) + 1000)) ] || fail 'the shim sets no clock'
export JSPROF JSPROF_CLOCK JSPROF_SOURCE
for JSPROF_SOURCE in looker timer; do
    for JSPROF_CLOCK in cpu wall; do
        JSPROF=$SCRATCH/$JSPROF_SOURCE.$JSPROF_CLOCK.cap
        stepped timeout 60 "$B/tests/fault/traced_host" 100 >"$OUT" 2>&1 ||
            fail "status $?: $JSPROF_SOURCE, $JSPROF_CLOCK"
        "$TOOL" info "$JSPROF" >"$OUT" 2>&1 || fail "info: $JSPROF_SOURCE, $JSPROF_CLOCK"
        grep -q 'lost: adds up, and the file holds them all' "$OUT" ||
            fail "the account: $JSPROF_SOURCE, $JSPROF_CLOCK"
        # "spins" runs for 200 samples or a minute at most; an hour would be 3,600,000 of them
        awk '{ gsub(",", "") } $2 == "spins" { n = $4 } END { exit n < 10 || n > 60000 }' "$OUT" ||
            fail "expirations: $JSPROF_SOURCE, $JSPROF_CLOCK"
    done
done
exit $FAILED
