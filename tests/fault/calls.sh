#!/bin/sh
# fault/calls.sh - calls are counted when the program is killed: what was flushed is there;
# and a function that is freed on a stack is named in a debug build.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

build() # NAME OPTION...
{
    name=$1
    shift
    "${CC:-gcc}" -O1 -Wall ${WERROR:-} -pthread "$@" -I"$SRCDIR/include" -o "$SCRATCH/$name" \
        "$SRCDIR/tests/fault/calls_host.c" "$B/lib/libjsprof.a" || exit 1
}
build plain
build debug -DJSPROF_DEBUG

# Killed in the middle of calls, after a flush and two by itself.
"$SCRATCH/plain" "$SCRATCH/x.cap" >"$OUT" 2>&1 &
pid=$!
size=0 grown=0
while [ $grown -lt 3 ] && kill -0 $pid; do
    now=$(stat -c %s "$SCRATCH/x.cap" 2>/dev/null || echo 0)
    [ "$now" = "$size" ] || grown=$((grown + 1))
    size=$now
done
kill -KILL $pid
wait $pid 2>/dev/null
said 'flushed 100000'
"$TOOL" calls --csv "$SCRATCH/x.cap" >"$OUT" 2>&1 || fail 'jsprof calls takes it'
row=$(grep '^"f","f.js",7,vm,' "$OUT")
calls=$(echo "$row" | cut -d, -f5) bytes=$(echo "$row" | cut -d, -f9)
[ "${calls:-0}" -ge 100000 ] || fail "${calls:-no} calls are left of 100000 that were flushed"
# An allocation in each call, but for one that is under way.
[ $((calls - ${bytes:-0} / 8)) -le 1 ] || fail "$calls calls and $bytes bytes are of two moments"

# Cut anywhere: what was whole is shown.
for cut in 1000 5000 20000; do
    head -c $((size - cut)) "$SCRATCH/x.cap" >"$SCRATCH/cut.cap"
    "$TOOL" calls --csv "$SCRATCH/cut.cap" >"$OUT" 2>&1
    rc=$?
    [ $rc = 0 ] || [ $rc = 1 ] || fail "jsprof calls ended with $rc, $cut bytes cut"
done

# A debug build says whose stack it is on; any other one does not look.
freed() # BUILD WHERE WANTED
{
    (timeout 20 "$SCRATCH/$1" free "$2") >"$OUT" 2>&1
    grep -qxF -- "$3" "$OUT" || fail "$1 $2: no line \"$3\""
}
for where in linked array; do
    freed debug $where "jsprof: function 'f (f.js:7)' is freed while on the stack of thread 'main'"
    grep -q '^freed' "$OUT" && fail "$where: it went on"
done
freed debug other "jsprof: function 'f (f.js:7)' is freed while on the stack of thread 'other'"
freed debug none freed
freed plain array freed

[ $FAILED = 0 ]
