#!/bin/sh
# unwind/static.sh - a program that is linked statically finds its own tables, though it
# may have no program header that leads to them.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
. tests/unwind/common.sh
echo 'int main(void) { return 0; }' |
    $CC -static -no-pie -x c -o "$out/empty" - 2>/dev/null ||
    { echo 'SKIP: needs a static C library'; exit 77; }
! readelf -lW "$out/empty" | grep -q GNU_EH_FRAME ||
    echo 'static: this toolchain writes the header all the same'
$CC -std=c11 -D_GNU_SOURCE -O2 -g -pthread -static -no-pie -w -Isrc -Iinclude -Itests/unit \
    -o "$out/static" tests/unit/unwind_test.c "$B/obj/inner.a"
timeout 60 ${RUN_UNDER:-} "$out/static"
