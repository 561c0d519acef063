#!/bin/sh
# check/clang.sh - everything once more with clang: no warning, the unit tests pass,
# and what clang makes of the signal-safe room is closed as well.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
command -v clang >/dev/null || { echo 'SKIP: needs clang'; exit 77; }
B=$B/clang CC=clang
export B CC
units=$(printf "$B/%s " tests/unit/*_test.c | sed 's/\.c / /g')
{
    make -s -k -j2 B="$B" CC=clang MOZJS=no all $units &&
        make -s -k -j2 B="$B/parsed" CC=clang MOZJS=no LUA=no CFLAGS=-fsyntax-only test-objects
} >"$B.log" 2>&1 || { grep -v "^  [A-Z]* " "$B.log"; exit 1; }
STRICT='' sh tests/run.sh $units
sh tests/check/rooms.sh
sh tests/pkg/lazy.sh
