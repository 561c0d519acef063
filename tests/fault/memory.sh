#!/bin/sh
# fault/memory.sh - memory runs out in any call of a host: the call returns it, the host
# continues, and a capture that was begun is whole or records what is missing. Each allocation
# fails once, alone, and some of them with all that come after. Whatever fails, all the rest is
# freed.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/fault/lib.sh"

MEMORY_HOST=$B/tests/fault/memory_host
if readelf -d "$MEMORY_HOST" | grep -q 'lib[at]san'; then
    echo 'SKIP: a sanitizer allocates for itself'
    exit 77
fi
"${CC:-gcc}" -O1 -shared -fPIC -fno-builtin -o "$SCRATCH/memory.so" \
    "$SRCDIR/tests/fault/shim/memory.c" -ldl || exit 1
cd "$SCRATCH" || exit 1

starved() # [VARIABLE...]: run the host so; the capture is m.cap
{
    rm -f m.cap
    timeout 60 env "$@" SHIM_COUNT=count LD_PRELOAD=./memory.so "$MEMORY_HOST" m.cap $times \
        >"$OUT" 2>&1
    rc=$?
    [ $rc = 0 ] && [ "$(tail -n 1 "$OUT")" = done ] || fail "$*: the host ended with $rc"
    if grep -q '^open: ' "$OUT"; then
        [ ! -e m.cap ] || fail "$*: open failed and left a file"
        refused=$((refused + 1))
    else
        "$TOOL" info m.cap >info.txt 2>&1 || fail "$*: jsprof info refuses the capture"
        grep -q 'adds up\|all that is missing is counted' info.txt ||
            { cat info.txt >>"$OUT"; fail "$*: the capture's verdict"; }
        [ "$(grep -c . "$OUT")" = 1 ] || noticed=$((noticed + 1))
    fi
    read -r n live <count
    [ "$live" -le "$kept" ] ||
        fail "$* ($times): $live allocations are kept, $kept of one that fails nowhere"
}

refused=0 noticed=0 i=1 times=1 kept=100
starved
[ "$(grep -c . "$OUT")" = 1 ] || fail 'with all its memory a call fails'
[ "$n" -gt 100 ] || fail "only $n allocations were seen"
all=$n kept=$live times=3
starved
times=1
while [ "$i" -le "$all" ] && [ "$FAILED" = 0 ]; do
    starved SHIM_FAIL="$i"
    [ $((i % 10)) != 0 ] || starved SHIM_FAIL="$i" SHIM_FAIL_ALL=1
    i=$((i + 1))
done
echo "$all allocations: open refused in $refused runs, another call in $noticed"
[ "$refused" -gt 5 ] && [ "$noticed" -gt 5 ] || fail 'nothing was made to fail'
[ "$FAILED" = 0 ]
