#!/bin/sh
# fault/noproc.sh - where /proc is not mounted (a chroot, a sandbox), C functions have their
# names, stacks are whole, and the capture says what it lacks.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/fault/lib.sh"

NOPROC=$B/tests/fault/noproc_host
HIDE='mount -t tmpfs none /proc 2>/dev/null && [ ! -e /proc/self ]'
hidden() # COMMAND...: without /proc
{
    timeout 60 unshare $how sh -c "$HIDE"' || exit 76; exec "$@"' sh "$@"
}
how=-m
hidden true 2>/dev/null || how='-r -m'
hidden true 2>/dev/null ||
    { echo 'SKIP: needs to be root, or namespaces of users (unshare -r -m)'; exit 77; }

hidden "$NOPROC" "$SCRATCH/hidden.cap" >"$OUT" 2>&1 || fail 'the host ended badly without /proc'
"$NOPROC" "$SCRATCH/plain.cap" >"$OUT" 2>&1 || fail 'the host ended badly'

"$TOOL" report --native --limit 0 "$SCRATCH/hidden.cap" >"$OUT"
grep -q 'noproc_compare' "$OUT" || fail 'a function of the program has no name'
grep -q 'noproc_work' "$OUT" || fail 'the function below it has no name'
grep -q 'qsort' "$OUT" || fail "a function of the C library's has no name"
grep -qF '[unknown]' "$OUT" && fail 'C functions are [unknown]'
grep -q 'recorded where /proc was not mounted' "$OUT" || fail 'report does not say why names lack'

# Linkers may leave out the build id, by which a file is known to be the one that was loaded.
# The loader names the objects in another order than that of their addresses.
"${CC:-gcc}" -O1 -pthread -Wl,--build-id=none -I"$SRCDIR/include" -o "$SCRATCH/plain_host" \
    "$SRCDIR/tests/fault/noproc_host.c" "$B/lib/libjsprof.a" -Wl,--no-as-needed -lm -ldl ||
    exit 1
hidden "$SCRATCH/plain_host" "$SCRATCH/no_id.cap" >"$OUT" 2>&1 || fail 'the host ended badly'
"$TOOL" report --native --limit 0 "$SCRATCH/no_id.cap" >"$OUT"
grep -q 'noproc_compare' "$OUT" || fail 'a function of a program without a build id has no name'
grep -q 'qsort' "$OUT" || fail "a function of one of several libraries has no name"

"$TOOL" info "$SCRATCH/hidden.cap" >"$OUT"
grep -q 'names.*recorded where /proc was not mounted' "$OUT" || fail 'info does not say so'
grep -q 'noproc_host' "$OUT" || fail 'the program has no name'
awk '/C stacks/ { sub(">", "", $3); exit !($3 + 0 >= 90) }' "$OUT" || fail 'stacks are not whole'

JSPROF_SOURCE=looker JSPROF=$SCRATCH/looker.cap hidden "$B/bin/minimal" >"$OUT" 2>&1 ||
    fail 'a host that asked for the looker ended badly without /proc'
"$TOOL" info "$SCRATCH/looker.cap" >"$OUT"
grep -q 'source.*timer (no looker without /proc)' "$OUT" || fail 'info does not name the source'

"$TOOL" info "$SCRATCH/plain.cap" >"$OUT"
grep -q 'was not mounted' "$OUT" && fail 'said of a capture that had /proc'

[ $FAILED = 0 ] && echo 'names without /proc: as with it, and the capture says what it lacks'
exit $FAILED
