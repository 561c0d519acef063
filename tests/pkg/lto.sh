#!/bin/sh
# pkg/lto.sh - CFLAGS=-flto builds the library with gcc: its archive is machine code, which a
# host without LTO links, and the signal-safe room is as closed. With clang make refuses in
# one sentence. The flags of a hardened build reach the command but not the room.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "lto: $*"; exit 1; }
tool=$B/bin/jsprof
if ! make -s B="$tmp/none" CC=clang CFLAGS=-flto MOZJS=no LUA=no help >"$tmp/said" 2>&1; then
    grep -q 'the library takes from gcc alone' "$tmp/said" || fail "says: $(cat "$tmp/said")"
else
    fail 'make takes -flto with clang'
fi
case $($CC --version) in *clang*) echo 'SKIP: needs gcc'; exit 77 ;; esac
$CC -v 2>&1 | grep -q -- --enable-plugin || { echo 'SKIP: needs a gcc with plugins'; exit 77; }

B=$tmp/build
export B
make -s -j2 B="$B" CC="$CC" MOZJS=no LUA=no CFLAGS='-flto=1 -fstack-protector-strong' \
    CPPFLAGS=-D_FORTIFY_SOURCE=2 lib >"$tmp/said" 2>&1 || { tail "$tmp/said"; fail 'no library'; }
! grep -i 'warning: [^u]' "$tmp/said" || fail 'warnings'
sh tests/check/rooms.sh
sh tests/check/exports.sh
for lib in libjsprof.a libjsprof.so; do
    $CC -O2 -pthread -Iinclude -o "$tmp/host" tests/pkg/host.c "$B/lib/$lib" ||
        fail "$lib does not link"
    LD_LIBRARY_PATH=$B/lib "$tmp/host" "$tmp/host.cap" || fail "the host of $lib does not run"
    "$tool" report "$tmp/host.cap" | grep -q 'installed_work (host.c' ||
        fail "no function of the host of $lib in its report"
done
