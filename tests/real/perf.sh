#!/bin/sh
# real/perf.sh - the real perf names registered code: from /tmp/perf-PID.map, and from
# the jitdump after `perf inject --jit`.
#
# SPDX-License-Identifier: MIT
set -eu
command -v perf >/dev/null || { echo 'SKIP: needs linux-perf'; exit 77; }
case $($CC -dumpmachine) in
x86_64*) ;;
*) echo 'SKIP: needs x86-64'; exit 77 ;;
esac
tmp=$(mktemp -d)
pid=0
trap 'rm -rf "$tmp" "/tmp/perf-$pid.map"' EXIT
export HOME="$tmp" # where perf keeps what it saw
$CC -std=c11 -D_GNU_SOURCE -Wall -Wextra ${WERROR:-} -pthread -I"$SRCDIR/include" \
    -o "$tmp/host" "$SRCDIR/tests/real/perf_host.c" "$B/lib/libjsprof.a"

record() # map|dump
{
    perf record -q -k CLOCK_MONOTONIC -e cpu-clock -F 1000 -o "$tmp/$1.data" \
        "$tmp/host" "$1" "$tmp/$1.cap" >"$tmp/out" 2>&1 || {
        grep -q 'perf_host:' "$tmp/out" && { cat "$tmp/out"; exit 1; }
        echo "SKIP: needs a kernel that lets perf record ($(head -n 1 "$tmp/out"))"
        exit 77
    }
}

# Both names are in the report, and the one that runs twice as long comes first.
check() # FILE WHAT
{
    perf report --stdio -F overhead,sym -i "$1" >"$tmp/report" 2>"$tmp/errors" || {
        cat "$tmp/errors"; exit 1; }
    awk -v what="$2" '/%.*longer \(perf.x:1\)/ { long = $1 + 0 }
        /%.*shorter \(perf.x:9\)/ { short = $1 + 0 }
        END { printf "%s: longer %.1f%%, shorter %.1f%%\n", what, long, short
            exit !(short > 15 && long > 1.1 * short && long + short > 70) }' \
        "$tmp/report" || { head -n 30 "$tmp/report"; exit 1; }
}

record map
pid=$(perf script -i "$tmp/map.data" -F pid 2>/dev/null | awk 'NR == 1 { print $1 }')
check "$tmp/map.data" 'perf map'
record dump
perf inject --jit -i "$tmp/dump.data" -o "$tmp/injected.data" >"$tmp/out" 2>&1 || {
    cat "$tmp/out"; exit 1; }
check "$tmp/injected.data" jitdump
