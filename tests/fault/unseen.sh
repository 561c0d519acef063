#!/bin/sh
# fault/unseen.sh - time in which no sample could be taken is in the shares of threads, and
# `jsprof info` says why there was none and what to do.
#
# SPDX-License-Identifier: MIT
set -u
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
unset JSPROF JSPROF_HZ JSPROF_CLOCK
bad=0

wrong() # WHAT
{
    echo "not so: $1"
    sed 's/^/  | /' "$SCRATCH/out"
    bad=1
}

run() # COMMAND...
{
    timeout 60 "$@" >"$SCRATCH/out" 2>&1 || wrong "$* ends well"
}

# Both had half a second; the second one in a thousand parts, and what each attach took. In
# samples alone it had 9 %.
run "$B/tests/fault/unseen_host" shares "$SCRATCH/x.cap"
run "$B/bin/jsprof" threads "$SCRATCH/x.cap"
for name in long short; do
    share=$(awk -v name=$name '$3 == name { sub("%", "", $4); printf "%d", $4 }' "$SCRATCH/out")
    [ "${share:-0}" -ge 25 ] && [ "$share" -le 75 ] ||
        wrong "thread $name had half of the time, not ${share:-none} %"
done

# One line for it, not a thousand.
run "$B/bin/jsprof" info "$SCRATCH/x.cap"
[ "$(grep -c ' short ' "$SCRATCH/out")" = 1 ] || wrong "a thread is one line"
grep -q 'attached 1,000 times' "$SCRATCH/out" || wrong "it says how often it attached"
grep -q 'undelivered [0-9]' "$SCRATCH/out" || wrong "it says why it has few samples"
grep -q 'blocked' "$SCRATCH/out" && wrong "nothing was blocked"

run "$B/tests/fault/unseen_host" blocked "$SCRATCH/x.cap"
run "$B/bin/jsprof" info "$SCRATCH/x.cap"
grep -q 'lost: signal blocked [4-9][0-9][0-9]' "$SCRATCH/out" || wrong "it says what was blocked"
grep -q 'Leave the signal (SIGPROF; SIGURG of perf events)' "$SCRATCH/out" ||
    wrong "it says what to do"
grep -q 'adds up' "$SCRATCH/out" || wrong "it adds up"
run "$B/bin/jsprof" report "$SCRATCH/x.cap"
grep -q 'signal blocked [4-9][0-9][0-9]' "$SCRATCH/out" || wrong "the report says it too"
exit $bad
