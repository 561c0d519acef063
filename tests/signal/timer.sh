#!/bin/sh
# signal/timer.sh - what other tests find about accounts, blocked signals, owners and forks under
# the looker holds with a timer for each thread, too.
#
# SPDX-License-Identifier: MIT
set -u
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for name in unseen owner fork; do
    HOST_TIMER=1 timeout 100 "$B/tests/signal/${name}_test" >"$out" || {
        echo "timer: $name"
        cat "$out"
        exit 1
    }
    [ "$(grep -c '^ok' "$out")" -gt 5 ] || { echo "timer: $name tested nothing"; exit 1; }
done
