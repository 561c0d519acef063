#!/bin/sh
# signal/compact.sh - captures in the compact form onto files that are full, slow, closed or
# gone keep what plain ones keep.
#
# SPDX-License-Identifier: MIT
set -u
out=$(mktemp)
trap 'rm -f "$out"' EXIT
HOST_COMPACT=1 timeout 100 "$B/tests/signal/writing_test" >"$out" || {
    cat "$out"
    exit 1
}
[ "$(grep -c '^ok' "$out")" -gt 5 ] || { echo 'compact: nothing was tested'; exit 1; }
