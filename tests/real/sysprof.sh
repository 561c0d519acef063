#!/bin/sh
# real/sysprof.sh - our captures in the real libsysprof: as many samples as we read,
# the same functions with the same shares, every address named, PROCESS first; also
# when the program that was recorded is gone.
#
# SPDX-License-Identifier: MIT
set -eu
pkg-config --exists sysprof-4 sysprof-capture-4 2>/dev/null ||
    { echo 'SKIP: needs libsysprof-4-dev'; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tab=$(printf '\t')
export GSETTINGS_BACKEND=memory HOME="$tmp"

# shellcheck disable=SC2046
$CC -std=c11 -D_GNU_SOURCE -Wall -Wextra ${WERROR:-} -o "$tmp/reader" \
    "$SRCDIR/tests/real/sysprof_reader.c" \
    $(pkg-config --cflags --libs sysprof-4 sysprof-capture-4 | sed 's/-I/-isystem /g')

# Ours as "self<TAB>total<TAB>name": the CSV's name is quoted and comes first.
ours()
{
    "$B/bin/jsprof" report --native --csv "$1" | sed -n '2,${
        s/^"\(.*\)",[a-z]*,[0-9]*,[0-9]*,\([0-9]*\),\([0-9]*\)$/\2\t\3\t\1/; s/""/"/g; p; }' |
        sort >"$tmp/b"
    # Functions of one name in several files are one there: their totals overlap.
    cut -f 3 "$tmp/b" | sort | uniq -d >"$tmp/several"
    for side in a b; do
        awk -F '\t' -v OFS='\t' 'FILENAME == ARGV[1] { several[$0]; next }
            $3 in several { self[$3] += $1; next } { print }
            END { for (name in self) print self[name], "several files", name }' \
            "$tmp/several" "$tmp/$side" | sort >"$tmp/$side.sorted"
    done
}

# C functions must be among them, so that names of both kinds are compared.
has_native() # CAPTURE
{
    "$B/bin/jsprof" report --native --csv "$1" | grep -q '^"lark_[a-z_]*",native,' ||
        { echo "sysprof: $1: no C function of the host has a name"; exit 1; }
}

compare() # CAPTURE
{
    "$tmp/reader" "$1" >"$tmp/theirs"
    if [ "$(sed -n 1p "$tmp/theirs")" != 'first PROCESS' ]; then
        echo "sysprof: $1: a sample before the PROCESS frame"
        exit 1
    fi
    # Their graph has the process as the root of all, in brackets; ours does not.
    sed -n '3,$p' "$tmp/theirs" | grep -v "$tab\[.*\(minimal\|lark\|gjs-console\)" \
        >"$tmp/a"
    ours "$1"
    samples=$(awk -F '\t' '{ n += $1 } END { print n + 0 }' "$tmp/b")
    if [ "$(sed -n 2p "$tmp/theirs")" != "samples $samples" ] || [ "$samples" = 0 ]; then
        echo "sysprof: $1: $(sed -n 2p "$tmp/theirs") there, $samples here"
        exit 1
    fi
    diff "$tmp/a.sorted" "$tmp/b.sorted" || { echo "sysprof: $1: the shares differ"; exit 1; }
    # What has no name is shown there as an address or "In File ...".
    if grep -Ei "$tab(0x[0-9a-f]+|in file .*|unwindable|\? .*)\$" "$tmp/a"; then
        echo "sysprof: $1: the above has no name"
        exit 1
    fi
    echo "sysprof: $(basename "$1"): $samples samples, $(wc -l <"$tmp/a") functions, the same"
}

JSPROF="$tmp/cpu.cap" "$B/bin/minimal" >/dev/null
compare "$tmp/cpu.cap"
JSPROF="$tmp/wall.cap" JSPROF_CLOCK=wall JSPROF_HZ=2000 "$B/bin/minimal" >/dev/null
compare "$tmp/wall.cap"
JSPROF="$tmp/lark.cap" "$B/bin/lark" "$SRCDIR/examples/lark/programs/fib.lark" 33 >/dev/null
compare "$tmp/lark.cap"
# The recorded program is gone: only what the capture brings along can name it.
cp "$B/bin/lark" "$tmp/lark"
JSPROF="$tmp/gone.cap" "$tmp/lark" --jit=off "$SRCDIR/examples/lark/programs/markdown.lark" \
    "$SRCDIR/docs/capture.md" 40 >/dev/null
rm "$tmp/lark"
compare "$tmp/gone.cap"
has_native "$tmp/gone.cap"
# The compact form is for us alone, until it is turned back.
JSPROF="$tmp/compact.cap" JSPROF_COMPACT=1 "$B/bin/lark" \
    "$SRCDIR/examples/lark/programs/fib.lark" 33 >/dev/null
"$tmp/reader" "$tmp/compact.cap" >"$tmp/theirs" || true
! grep -q "${tab}fib" "$tmp/theirs" || { echo 'sysprof: reads jsprof/stacks?'; exit 1; }
"$B/bin/jsprof" convert --to syscap -o "$tmp/expanded.syscap" "$tmp/compact.cap"
compare "$tmp/expanded.syscap"
# Each run of a task is a mark there, as long as here; each turn is one without a message. It
# has 2,200 samples; where the program is 5 times as fast, 400.
"$B/bin/lark" --profile-output="$tmp/tasks.cap" --profile-tasks --profile-hz=10000 \
    "$SRCDIR/examples/lark/programs/loop.lark" 400 >/dev/null
"$B/bin/jsprof" convert --to syscap -o "$tmp/tasks.syscap" "$tmp/tasks.cap"
compare "$tmp/tasks.syscap"
"$tmp/reader" "$tmp/tasks.syscap" 'jsprof tasks' | awk -F '\t' '
    $2 != "turn" { n[$2 "," $3]++; ns[$2 "," $3] += $1 }
    END { for (i in n) printf "%s,%d,%d\n", i, n[i], ns[i] }' | sort >"$tmp/a"
"$B/bin/jsprof" loop --limit 0 --csv "$tmp/tasks.cap" | tr -d '"' | awk -F , '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { printf "%s,%s,%d,%d\n", $at["kind"], $at["name"], $at["runs"], $at["total_ns"] }' |
    sort >"$tmp/b"
[ "$(wc -l <"$tmp/a")" -gt 3 ] && diff "$tmp/a" "$tmp/b" ||
    { echo 'sysprof: the marks of tasks differ'; exit 1; }
if [ -x "$B/bin/gjs-console" ]; then
    "$B/bin/gjs-console" --profile-output="$tmp/gjs.cap" -c '
        function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        function sorts() { let a = []; for (let i = 0; i < 99999; i++) a.push(i * 7 % 13);
                           return a.sort(); }
        fib(33); sorts();'
    compare "$tmp/gjs.cap"
fi
