#!/bin/sh
# fault/interposed.sh - a program recorded without a thread of ours (JSPROF_NO_THREAD), with
# something between it and the C library that has a lock of its own: it ends, and so does
# the recording. Before, all hosts under the two preloads hung with all signals blocked.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

HOST=$SCRATCH/interposed
"${CC:-gcc}" -O1 -pthread -I"$SRCDIR/include" -o "$HOST" \
    "$SRCDIR/tests/fault/interposed_host.c" "$B/lib/libjsprof.a" || exit 1

preload() # NAME OPTION...
{
    name=$1
    shift
    "${CC:-gcc}" -O1 -fPIC -shared -pthread -o "$SCRATCH/$name.so" \
        "$SRCDIR/tests/fault/preload/count_writes.c" "$@" || exit 1
}

# ends WHAT COMMAND...; a hung host blocks every signal but SIGKILL.
ends()
{
    what=$1
    shift
    timeout -s KILL 60 "$@" "$HOST" "$SCRATCH/x.cap" 1000 >"$OUT" 2>&1
    rc=$?
    [ $rc = 0 ] && grep -qx done "$OUT" || { fail "$what: the host ended with $rc"; return; }
    readable "$SCRATCH/x.cap"
    [ "$(samples "$SCRATCH/x.cap")" -gt 0 ] || fail "$what: no samples"
}

preload lock
preload counter -DCOUNT_ONLY
preload caller -DCOUNT_ELSEWHERE "$SCRATCH/counter.so" -Wl,-rpath,"$SCRATCH"
ends 'nothing between' env
ends 'a preload with a lock' env LD_PRELOAD="$SCRATCH/lock.so"
ends 'a preload whose library has the lock' env LD_PRELOAD="$SCRATCH/caller.so"
[ "$FAILED" = 0 ] || exit 1
