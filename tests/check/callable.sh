#!/bin/sh
# check/callable.sh - callable.c knows by name each function of the C library that ours call:
# what the objects import is in src/session/alone/callable_names.c.
#
# Not in it: what the compiler puts in, data, and __cxa_demangle, which changes nothing but
# what malloc gives it.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
nm=$($CC -print-prog-name=nm)

for room in session calls tasks base capture image sigsafe control public; do
    find "src/$room" -name '*.c'
done | sort | sed "s|^|$B/obj/|; s|c\$|o|" >"$tmp/objects"
xargs "$nm" -g <"$tmp/objects" >"$tmp/symbols"
awk 'NF == 3 { print $3 }' "$tmp/symbols" | sort -u >"$tmp/ours"
awk 'NF == 2 { print $2 }' "$tmp/symbols" | sort -u | comm -23 - "$tmp/ours" |
    sed -E 's/^__([a-z_0-9]+)_chk$/\1/' |
    grep -Ev '^(_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__cxa_demangle|std(err|out)|environ)$' |
    grep -Ev '^program_invocation_(short_)?name$' |
    grep -Ev '^__[a-z]+[sdt]i[0-9]$|^__aarch64_|^__(asan|ubsan|tsan|sanitizer|gcov|llvm)' |
    sort -u >"$tmp/imported"
grep -o '"[a-z_0-9]*"' src/session/alone/callable_names.c | tr -d '"' | sort -u >"$tmp/listed"
[ -s "$tmp/imported" ] && [ -s "$tmp/listed" ] || { echo 'callable: found nothing'; exit 1; }
missing=$(comm -23 "$tmp/imported" "$tmp/listed")
[ -z "$missing" ] || { echo "callable: not in callable_names.c:" $missing; exit 1; }
