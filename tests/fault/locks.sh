#!/bin/sh
# fault/locks.sh - what a session shares between threads is changed under its lock: no call of
# the library unlocks a mutex that it did not lock. Where a lock is missing, a host that attaches
# threads while it counts, flushes or adds code crashes once in a million.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/fault/lib.sh"

if readelf -d "$B/tests/fault/memory_host" | grep -q 'lib[at]san'; then
    echo 'SKIP: a sanitizer has locks of its own between'
    exit 77
fi
"${CC:-gcc}" -O1 -shared -fPIC -o "$SCRATCH/locks.so" "$SRCDIR/tests/fault/shim/locks.c" -ldl \
    2>"$OUT" || { echo 'SKIP: needs glibc'; exit 77; }
cd "$SCRATCH" || exit 1

locked() # COMMAND...
{
    timeout 100 env LD_PRELOAD=./locks.so "$@" >"$OUT" 2>&1 || fail "$* ended with $?"
}

locked "$B/tests/fault/memory_host" locks.cap
for test in unit/code_test unit/arguments_test unit/marks_test signal/close_test; do
    locked "$B/tests/$test"
done
[ "$FAILED" = 0 ]
