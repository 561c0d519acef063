#!/bin/sh
# pkg/cross.sh - aarch64: the library, the tool and the tests build without a warning,
# the unit tests and those of walks in signal handlers pass in an emulator (which has no
# process_vm_readv), the signal-safe room is closed there too.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
target=aarch64-linux-gnu
command -v $target-gcc >/dev/null || { echo "SKIP: needs gcc-$target"; exit 77; }
command -v qemu-aarch64 >/dev/null || { echo 'SKIP: needs qemu-user'; exit 77; }
B=$B/aarch64 CC=$target-gcc
export B CC
programs=$(printf "$B/%s " tests/unit/*_test.c | sed 's/\.c / /g')
for name in merged owner reset; do
    programs="$programs $B/tests/signal/${name}_test"
done
{
    make -s -j2 B="$B" CC=$CC MOZJS=no LUA=no all $programs &&
        make -s -j2 B="$B/parsed" CC=$CC MOZJS=no LUA=no CFLAGS=-fsyntax-only test-objects
} >"$B.log" 2>&1 || { cat "$B.log"; exit 1; }
sh tests/check/rooms.sh
sh tests/check/exports.sh
QEMU_LD_PREFIX=/usr/$target
RUN_UNDER=qemu-aarch64
export QEMU_LD_PREFIX RUN_UNDER
STRICT='' sh tests/run.sh $programs
sh tests/pkg/lazy.sh
