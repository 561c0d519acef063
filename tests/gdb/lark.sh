#!/bin/sh
# gdb/lark.sh - stacks of Lark, interpreted and compiled, are those that the program itself takes.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SRCDIR/tests/gdb/lib.sh"
watch_build
cd "$SRCDIR"
fib=examples/lark/programs/fib.lark
equal interpreted "$B/bin/lark" --profile-output="$tmp/a.cap" --jit=off $fib 40
equal compiled "$B/bin/lark" --profile-output="$tmp/a.cap" $fib 38
equal mixed "$B/bin/lark" --profile-output="$tmp/a.cap" --jit-cache-bytes=65536 \
    examples/lark/programs/quicksort.lark 300000
exit $bad
