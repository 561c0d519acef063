#!/bin/sh
# check/exports.sh - what the libraries show to the outside: every function of the
# public header, nothing else; and what they need: libc.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
say() { echo "exports: $*"; bad=1; }
nm=$($CC -print-prog-name=nm)
readelf=$($CC -print-prog-name=readelf)
so=$(readlink -f "$B/lib/libjsprof.so")

grep -v '^#' include/jsprof.h | tr '\n' ' ' | grep -oE 'JSPROF_API [^;(]*\(' |
    sed 's/($//; s/.*[ *]//' | sort -u >"$tmp/promised"
[ -s "$tmp/promised" ] || say 'the header promises nothing'

$nm -D --defined-only "$so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    sort -u >"$tmp/shared"
$nm -g --defined-only "$B/lib/libjsprof.a" | awk 'NF == 3 { print $3 }' |
    sort -u >"$tmp/static"
for kind in shared static; do
    for name in $(comm -23 "$tmp/$kind" "$tmp/promised"); do
        say "$kind library shows what the header does not: $name"
    done
    for name in $(comm -13 "$tmp/$kind" "$tmp/promised"); do
        say "$kind library lacks what the header promises: $name"
    done
done

sed -n 's/^ \(jsprof_[a-z_0-9]*\)@.*/\1/p' debian/libjsprof0.symbols | sort -u >"$tmp/packed"
cmp -s "$tmp/packed" "$tmp/promised" || say "debian/libjsprof0.symbols and the header differ: $(
    comm -3 "$tmp/packed" "$tmp/promised")"

$readelf -dW "$so" >"$tmp/dynamic"
version=$(sed -n 's/^.define JSPROF_VERSION_STRING "\(.*\)"/\1/p' include/jsprof.h)
grep -q "SONAME.*\[libjsprof\.so\.${version%%.*}\]" "$tmp/dynamic" || say 'wrong soname'
[ "${so##*/}" = "libjsprof.so.$version" ] || say "library is called ${so##*/}"
sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$tmp/dynamic" |
    grep -vE '^(libc\.|ld-linux|ld-musl)' >"$tmp/needed" &&
    say "needs more than libc: $(cat "$tmp/needed")"
grep -q '(FLAGS_1).*NOW' "$tmp/dynamic" || say 'binds lazily'
grep -q '(FLAGS_1).*NODELETE' "$tmp/dynamic" || say 'can be unloaded'
grep -q '(TEXTREL)' "$tmp/dynamic" && say 'has text relocations'
$readelf -lW "$so" | grep -q 'GNU_STACK.*RWE' && say 'asks for an executable stack'
exit $bad
