#!/bin/sh
# fault/fakeroot.sh - a build below fakeroot records itself without a thread of ours: fakeroot
# holds a lock, and talks to its daemon, in every stat. Before, one
# of the first four such hosts hung in each of three runs.
#
# SPDX-License-Identifier: MIT
set -u
command -v fakeroot >/dev/null || { echo 'SKIP: needs fakeroot'; exit 77; }
. "$(dirname "$0")/lib.sh"

HOST=$SCRATCH/interposed
"${CC:-gcc}" -O1 -pthread -I"$SRCDIR/include" -o "$HOST" \
    "$SRCDIR/tests/fault/interposed_host.c" "$B/lib/libjsprof.a" || exit 1
ran=0
# The limit is inside, or a hung host would outlive fakeroot's script.
for fakeroot in fakeroot-sysv fakeroot-tcp; do
    # It needs message queues or a network, which a container may not have.
    timeout 60 $fakeroot true >"$OUT" 2>&1 || continue
    ran=1
    for run in 1 2; do # before, one of the first four hung in each of three runs
        $fakeroot timeout -s KILL 60 "$HOST" "$SCRATCH/x.cap" 1000 >"$OUT" 2>&1
        rc=$?
        [ $rc = 0 ] && grep -qx done "$OUT" || fail "below $fakeroot the host ended with $rc"
        [ "$FAILED" = 0 ] || exit 1
    done
done
[ $ran = 1 ] || { echo 'SKIP: needs a fakeroot that runs'; exit 77; }
readable "$SCRATCH/x.cap"
[ "$FAILED" = 0 ] || exit 1
