#!/bin/sh
# check/losses.sh - the public header and the documents name the causes of loss that the table
# src/base/losses.h has: all of them, in its order, with its names and meanings.
# No other source adds them up.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0

# A row of the table as a line: key|name|meaning.
echo '#include "base/losses.h"
#define ROW(CAUSE, cause, asked, name, meaning) @ #cause|name|meaning @
JSP_LOSSES(ROW)' >"$tmp/rows.c"
$CC -Iinclude -Isrc -E -P "$tmp/rows.c" | tr -d '\n' | tr '@' '\n' |
    sed -n 's/^ *"\([a-z_]*\)" *| *"\(.*\)" *| *"\(.*\)" *$/lost_\1|\2|\3/p' >"$tmp/table"
cut -d '|' -f 1 "$tmp/table" >"$tmp/keys"
[ "$(wc -l <"$tmp/keys")" -ge 7 ] || { echo 'losses: no table in src/base/losses.h'; exit 1; }

# same WHERE: stdin has what the table's keys have, in their order.
same()
{
    diff "$tmp/keys" - >"$tmp/diff" && return
    echo "losses: $1 differs from src/base/losses.h (<):"
    grep '^[<>]' "$tmp/diff"
    bad=1
}
words() { grep -o 'lost_[a-z]*' || true; }
formula() # FILE: the sum that it says expirations are
{
    tr -s ' *\n' ' ' <"$1" | grep -oE 'expirations = kept( [+] lost_[a-z]+)+' | words
}

for f in include/jsprof.h docs/capture.md docs/man/jsprof-capture.5; do
    formula "$f" | same "$f: expirations = ..."
done
sed -n '/^typedef struct jsprof_stats/,/^}/s/^ *uint64_t *\(lost_[a-z]*\);.*/\1/p' \
    include/jsprof.h | sort >"$tmp/fields"
sort "$tmp/keys" | diff - "$tmp/fields" >"$tmp/diff" ||
    { echo "losses: jsprof_stats differs from src/base/losses.h (<):"; cat "$tmp/diff"; bad=1; }
sed -n '/^ *thread id=N/,/^ *total/p' docs/capture.md | words | same 'docs/capture.md: thread id=N'
tr '\n' ' ' <docs/export.md | sed -n 's/.*losses (expirations, kept, \([^)]*\)).*/\1/p' |
    tr -d ' ' | tr ',' '\n' | sed 's/^/lost_/' | { cat; echo; } | sed '/^$/d' |
    same 'docs/export.md: losses'

# The table of meanings.
sed -n 's/^| `\(lost_[a-z]*\)` | \(.*\) | \(.*\) |$/\1|\2|\3/p' docs/capture.md |
    diff "$tmp/table" - >"$tmp/diff" || {
    echo 'losses: the table in docs/capture.md differs from src/base/losses.h (<):'
    grep '^[<>]' "$tmp/diff"
    bad=1
}
# No other source spells a key.
grep -nE "\"[^\"]*($(paste -sd '|' "$tmp/keys"))" $(find src -name '*.[ch]') >"$tmp/out" &&
    { echo "losses: a key beside the table: $(cat "$tmp/out")"; bad=1; }
# No other source adds three causes in one expression: it would forget the next one. A binding
# has the public header alone, which has no sum.
awk '
    BEGIN { cause = "(lost_[a-z]+|LOST_[A-Z]+])"; plus = "[^;,{}]*[+][^;,{}]*" }
    FNR == 1 { text = "" }
    {
        gsub(/\/\*.*\*\//, "")
        if ($0 ~ /^ *(\/\*|\*)/) next
        if (text == "") first = FNR
        text = text " " $0
        if ($0 !~ /[;{}]/) next
        if (text ~ cause plus cause plus cause)
            print FILENAME ":" first
        text = ""
    }' $(find src examples tests -name '*.[ch]' ! -path 'src/base/losses.*') >"$tmp/out"
[ ! -s "$tmp/out" ] || { echo "losses: added by hand: $(cat "$tmp/out")"; bad=1; }
exit $bad
