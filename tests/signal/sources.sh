#!/bin/sh
# signal/sources.sh - what other tests find about accounts, blocked signals, owners, forks and
# tasks under the looker holds with a timer or an event for each thread, too.
#
# SPDX-License-Identifier: MIT
set -u
out=$(mktemp)
trap 'rm -f "$out"' EXIT

by() # SOURCE TEST...
{
    HOST_SOURCE=$1
    export HOST_SOURCE
    shift
    for name; do
        timeout 100 "$B/tests/signal/${name}_test" >"$out" || {
            echo "$HOST_SOURCE: $name"
            cat "$out"
            exit 1
        }
        [ "$(grep -c '^ok' "$out")" -gt 5 ] || {
            echo "$HOST_SOURCE: $name tested nothing"
            exit 1
        }
    done
}

by timer unseen owner fork
"$B/tests/signal/event_test" | grep -q SKIP || by perf unseen fork reset
