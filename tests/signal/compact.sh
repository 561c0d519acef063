#!/bin/sh
# signal/compact.sh - captures in the compact form keep what plain ones do: the same tests
# of what is counted, lost and written, over again.
#
# SPDX-License-Identifier: MIT
set -u
for test in conservation writing sessions; do
    HOST_COMPACT=1 timeout 60 "$B/tests/signal/${test}_test" >"$B/compact.out" || {
        cat "$B/compact.out"
        echo "compact: ${test}_test fails with samples in jsprof/stacks"
        exit 1
    }
    grep -q '^ok' "$B/compact.out" || { echo "compact: ${test}_test ran nothing"; exit 1; }
done
rm -f "$B/compact.out"
