#!/bin/sh
# signal/looker.sh - what the tests of timers find about accounts, blocked signals and forks
# holds under the looker, too.
#
# SPDX-License-Identifier: MIT
set -u
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for name in conservation unseen fork; do
    HOST_LOOKER=1 timeout 100 "$B/tests/signal/${name}_test" >"$out" || {
        echo "looker: $name"
        cat "$out"
        exit 1
    }
    [ "$(grep -c '^ok' "$out")" -gt 5 ] || { echo "looker: $name tested nothing"; exit 1; }
done
