#!/bin/sh
# check/exports.sh - what the libraries show to the outside: every function of the
# public header, nothing else; and what they need: libc, with its libm for the reading library.
# The reading library has no variable that can change.
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
version=$(sed -n 's/^.define JSPROF_VERSION_STRING "\(.*\)"/\1/p' include/jsprof.h)

shows() # NAME: of include/NAME.h and libNAME
{
    so=$(readlink -f "$B/lib/lib$1.so")
    grep -v '^#' "include/$1.h" | tr '\n' ' ' | grep -oE 'JSPROF_(READ_)?API [^;(]*\(' |
        sed 's/($//; s/.*[ *]//' >"$tmp/promised"
    sed -n 's/^JSPROF_API extern .* \([a-z_]*\);$/\1/p' "include/$1.h" >>"$tmp/promised"
    # What gdb looks for: see src/session/gdbjit.c.
    [ "$1" != jsprof ] || printf '__jit_debug_%s\n' descriptor register_code >"$tmp/gdb"
    [ "$1" = jsprof ] || : >"$tmp/gdb"
    sort -u -o "$tmp/promised" "$tmp/promised"
    [ -s "$tmp/promised" ] || say "$1.h promises nothing"

    $nm -D --defined-only "$so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
        grep -vxFf "$tmp/gdb" | sort -u >"$tmp/shared"
    $nm -g --defined-only "$B/lib/lib$1.a" | awk 'NF == 3 { print $3 }' |
        grep -vxFf "$tmp/gdb" | sort -u >"$tmp/static"
    for kind in shared static; do
        for name in $(comm -23 "$tmp/$kind" "$tmp/promised"); do
            say "$kind library shows what the header does not: $name"
        done
        for name in $(comm -13 "$tmp/$kind" "$tmp/promised"); do
            say "$kind library lacks what the header promises: $name"
        done
    done
    symbols=debian/lib${1}0.symbols
    sed -n 's/^ \(jsprof_[a-z_0-9]*\)@.*/\1/p' "$symbols" | sort -u >"$tmp/packed"
    cmp -s "$tmp/packed" "$tmp/promised" || say "$symbols and the header differ: $(
        comm -3 "$tmp/packed" "$tmp/promised")"
}

needs() # NAME LIBRARIES
{
    so=$(readlink -f "$B/lib/lib$1.so")
    $readelf -dW "$so" >"$tmp/dynamic"
    grep -q "SONAME.*\[lib$1\.so\.${version%%.*}\]" "$tmp/dynamic" || say 'wrong soname'
    [ "${so##*/}" = "lib$1.so.$version" ] || say "library is called ${so##*/}"
    sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$tmp/dynamic" | grep -vE "^($2)" >"$tmp/needed" &&
        say "$1 needs more than libc: $(cat "$tmp/needed")"
    grep -q '(FLAGS_1).*NOW' "$tmp/dynamic" || say 'binds lazily'
    grep -q '(TEXTREL)' "$tmp/dynamic" && say 'has text relocations'
    $readelf -lW "$so" | grep -q 'GNU_STACK.*RWE' && say 'asks for an executable stack'
    return 0
}

shows jsprof
needs jsprof 'libc\.|ld-linux|ld-musl'
grep -q '(FLAGS_1).*NODELETE' "$tmp/dynamic" || say 'can be unloaded'

shows jsprof-read
needs jsprof-read 'libc\.|libm\.|libdl\.|ld-linux|ld-musl'
# Tables of pointers are in .data.rel.ro, which the loader closes.
$readelf -SW "$B/lib/libjsprof-read.a" | awk '
    { sub(/^ *\[ *[0-9]*\] */, "") }
    $1 ~ /^\.(data|bss|tdata|tbss)/ && $1 !~ /^\.data\.rel\.ro/ && $5 !~ /^0*$/ { print $1 }' \
    >"$tmp/state"
[ ! -s "$tmp/state" ] || say "the reading library has variables: $(cat "$tmp/state")"
exit $bad
