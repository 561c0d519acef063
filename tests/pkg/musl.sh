#!/bin/sh
# pkg/musl.sh - another libc: library, tool and tests build against musl, and the unit
# tests pass. The amalgamation builds without a warning, and records.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
command -v musl-gcc >/dev/null || { echo 'SKIP: needs musl-tools'; exit 77; }
B=$B/musl CC=musl-gcc
export B CC
units=$(printf "$B/%s " tests/unit/*_test.c | sed 's/\.c / /g')
{
    make -s -j2 B="$B" CC=$CC MOZJS=no LUA=no all $units &&
        make -s -j2 B="$B/parsed" CC=$CC MOZJS=no LUA=no CFLAGS=-fsyntax-only test-objects
} >"$B.log" 2>&1 || { cat "$B.log"; exit 1; }
make -s B="$B" CC=$CC MOZJS=no LUA=no amalgamation
$CC -O2 -Wall -Wextra -Werror -pthread -I"$B/amalgamation" -o "$B/host" tests/pkg/host.c \
    "$B/amalgamation/jsprof.c"
"$B/host" "$B/host.cap"
"$B/bin/jsprof" report "$B/host.cap" | grep 'installed_work (host.c' >/dev/null ||
    { echo 'musl: the function of the host is not in the report'; exit 1; }
sh tests/check/rooms.sh
sh tests/check/exports.sh
STRICT='' sh tests/run.sh $units
