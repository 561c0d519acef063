#!/bin/sh
# pkg/hosts.sh - the programs of examples/hosts: each embeds an interpreter of the distribution,
# unchanged, and records a program that spends three quarters of its time in one function and
# one quarter in another, all on one line.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "hosts: $*"; exit 1; }
command -v pkg-config >/dev/null || { echo 'SKIP: needs pkg-config'; exit 77; }
tried=

# The total share of a function must be within five standard deviations of the truth: of n
# samples with chance p, sqrt(p (1 - p) / n).
share() # NAME EXPECTED
{
    "$B/bin/jsprof" report --vm --limit 0 "$tmp/cap" >"$tmp/report"
    awk -v name="$1" -v p="$2" '
        /samples? · / { n = $1 }
        index($0, " " name " (shares.") {
            found = 1
            for (i = 1; i <= 8; i++) if ($i ~ /%$/) last = $i + 0
        }
        END {
            if (!found || !n) { print name " is not in the report"; exit 1 }
            off = last / 100 - p; if (off < 0) off = -off
            printf "%s: %.1f%% of %d samples\n", name, last, n
            exit off > 5 * sqrt(p * (1 - p) / n) + 0.001
        }' "$tmp/report" || { cat "$tmp/report"; fail "the share of $1 is not $2"; }
}
line() # FILE: most of the time is on the line that says so
{
    want=$(grep -n 'the line of most samples' "$1" | cut -d : -f 1)
    "$B/bin/jsprof" report --vm --by line --limit 3 "$tmp/cap" >"$tmp/report"
    grep -m 1 '%.*shares\.' "$tmp/report" | grep -q "shares\.[a-z]*:$want\b" ||
        { cat "$tmp/report"; fail "line $want of $1 is not the hottest"; }
}

if pkg-config --exists python-3.11-embed; then
    # shellcheck disable=SC2046 # words
    $CC -std=gnu11 -O2 -Wall -Wextra ${WERROR:-} -Iinclude \
        $(pkg-config --cflags python-3.11-embed | sed 's/-I/-isystem /g') \
        -o "$tmp/python" examples/hosts/python/python.c "$B/lib/libjsprof.a" \
        $(pkg-config --libs python-3.11-embed) -pthread || fail 'python.c does not build'
    (cd examples/hosts/python && "$tmp/python" shares.py "$tmp/cap") ||
        fail 'python ended with an error'
    share large 0.75
    share small 0.25
    line examples/hosts/python/shares.py
    cat >"$tmp/threads.py" <<'END_OF_PROGRAM'
import threading


def spin(n):
    total = 0
    for i in range(n):
        total += i * i


def elsewhere(depth):
    spin(100) if depth == 0 else elsewhere(depth - 1)


def loop():
    while not is_over:
        elsewhere(60)


is_over = False
threads = [threading.Thread(target=loop) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(1000):
    spin(10000)
is_over = True
for thread in threads:
    thread.join()
END_OF_PROGRAM
    # Other threads run deep stacks while the handler walks the first one's.
    "$tmp/python" "$tmp/threads.py" "$tmp/cap" || fail 'python with threads ended with an error'
    tried=python
fi
[ -n "$tried" ] || { echo 'SKIP: needs python3-dev of CPython 3.11'; exit 77; }
echo "hosts: $tried"
