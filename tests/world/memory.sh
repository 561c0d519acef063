#!/bin/sh
# world/memory.sh - a command for which memory runs out says so in one line, status 1, or does
# without (colours, say): each of its allocations fails once, some with all after them. Where
# none fails, all that was allocated is freed.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

if readelf -d "$jsprof" | grep -q 'lib[at]san'; then
    echo 'SKIP: a sanitizer allocates for itself'
    exit 77
fi
$CC -O1 -shared -fPIC -fno-builtin -o memory.so "$SRCDIR/tests/fault/shim/memory.c" -ldl
tried=0

starve() # NUMBER [ALL]: that allocation fails
{
    rc=0
    rm -f made
    env SHIM_FAIL="$1" ${2:+SHIM_FAIL_ALL=1} LD_PRELOAD=./memory.so "$jsprof" $ran >out 2>err ||
        rc=$?
    tried=$((tried + 1))
    if [ $rc = 0 ]; then
        [ ! -s err ] || wrong "allocation $1: status 0, and a complaint"
        [ ! -e expected ] || cmp -s expected made || wrong "allocation $1: status 0, another file"
        [ "$(wc -l <out)" = "$rows" ] || wrong "allocation $1: status 0, and other lines"
    else
        [ $rc = 1 ] || wrong "allocation $1: status $rc"
        [ "$(wc -l <err)" = 1 ] && grep -qi 'memory' err ||
            wrong "allocation $1: not one line with the reason"
        [ ! -e made ] || wrong "allocation $1: status 1, and a file"
    fi
}

starves() # ARGUMENTS: file `made` is what they write
{
    ran=$1
    rm -f made expected count
    env SHIM_COUNT=count LD_PRELOAD=./memory.so "$jsprof" $ran >out 2>err ||
        { wrong 'fails with all its memory'; return; }
    rows=$(wc -l <out)
    [ ! -e made ] || mv made expected
    read -r n live <count
    [ "$n" -gt 5 ] || wrong "only $n allocations were seen"
    [ "$live" -le 0 ] || wrong "$live allocations are never freed"
    i=1
    while [ "$i" -le "$n" ]; do
        starve "$i"
        [ $((i % 5)) != 0 ] || starve "$i" all
        i=$((i + 1))
    done
}

starves 'info good.cap'
starves 'threads good.cap'
starves 'list events.cap'
starves 'report good.cap'
starves 'report --native --json missing.cap'
starves 'report --markdown good.cap'
starves 'report --thread 100 --only w.*k --time ..1s --csv good.cap'
starves 'tree merged.cap'
starves 'callers work good.cap'
starves 'annotate work listing.cap'
printf 'first\n\tsecond\n' >work.js
starves 'annotate --source . work good.cap'
starves 'annotate --dot work listing.cap'
starves 'calls calls.cap'
starves 'calls --only a --csv calls.cap'
starves 'calls calls.cap calls2.cap'
starves 'diff good.cap merged.cap'
starves 'html good.cap -o made'
starves 'html good.cap merged.cap -o made'
starves 'html calls.cap -o made'
starves 'merge good.cap merged.cap -o made'
starves 'dump calls.cap'
for to in pprof otlp firefox speedscope chrome perfetto folded perf callgrind csv json syscap \
    compact; do
    starves "convert --to $to -o made events.cap"
done
starves 'convert --to callgrind -o made calls.cap'
echo "$tried commands without enough memory"
[ "$tried" -gt 1000 ] || bad=1
exit $bad
