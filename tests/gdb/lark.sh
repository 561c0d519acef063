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

# A breakpoint on a function: interpreted, and compiled.
for jit in off on; do
    gdb_run -ex 'break lark_run_function' -ex "run --profile-output=$tmp/a.cap --jit=$jit $fib 20" \
        -ex 'delete 1' -ex 'jsprof break fib' -ex continue -ex 'jsprof stack -hide' -ex continue \
        -ex 'jsprof stack -hide' -ex kill "$B/bin/lark" >"$tmp/out"
    awk '/(hit|^)[ ]*Breakpoint [0-9]+, lark_run_function/ { stops++ }
        / vm +main / && stops == 2 { main = 1 }
        / (vm|jit) +fib / && stops == 3 { fib = 1 } END { exit !(main && fib) }' "$tmp/out" ||
        { tail -30 "$tmp/out"; wrong "jsprof break, --jit=$jit"; }
done
gdb_run -ex 'break lark_run_function' -ex "run --profile-output=$tmp/a.cap $fib 20" -ex 'delete 1' \
    -ex 'jsprof break nothing' -ex continue "$B/bin/lark" >"$tmp/out"
grep -q 'exited normally' "$tmp/out" || wrong 'stops in another function'
exit $bad
