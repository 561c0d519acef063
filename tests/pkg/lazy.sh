#!/bin/sh
# pkg/lazy.sh - a host that links the static library and binds names of libc by their first
# call has bound all that the handler calls when its session is open.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
$CC -std=c11 -D_GNU_SOURCE -O2 -Iinclude -pthread -Wl,-z,lazy -o "$tmp/host" \
    tests/pkg/lazy_host.c "$B/lib/libjsprof.a"
# shellcheck disable=SC2086 # words
LD_DEBUG=bindings ${RUN_UNDER:-} "$tmp/host" >"$tmp/out" 2>"$tmp/bound" ||
    {
        echo "the host ended with status $?"
        grep -v binding "$tmp/bound" | tail -n 5
        exit 1
    }
grep -q 'binding file .*/host ' "$tmp/bound" ||
    { echo 'SKIP: needs a loader with LD_DEBUG'; exit 77; }
sed 's/#.*//; s/[[:space:]]//g; /^$/d' src/sigsafe/ALLOWED >"$tmp/allowed"
awk '/the session is open/ { open = 1; next }
     open && /binding file .*\/host / && match($0, /`[^'\'']+/) {
         print substr($0, RSTART + 1, RLENGTH - 1)
     }' "$tmp/bound" | sort -u >"$tmp/late"
echo "$(wc -l <"$tmp/late") names bound after open, $(tail -n 1 "$tmp/out" | wc -c) bytes of stack"
grep -xF -f "$tmp/allowed" "$tmp/late" >"$tmp/wrong" || exit 0
echo "bound after the session was open, maybe in the handler: $(tr '\n' ' ' <"$tmp/wrong")"
exit 1
