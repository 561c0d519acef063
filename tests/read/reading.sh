#!/bin/sh
# read/reading.sh - what docs/reading.md shows compiles and runs, and its figures are so; the
# examples in Python and Lua find the same functions, and their test fails when one grew.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"
page=$SRCDIR/docs/reading.md
awk '/^```/ { on = $0 == "```c"; next }
    on && /^\/\* [a-z]*\.c - / { file = $2 }
    on { print >file }' "$page"
for program in sampler report; do
    [ "$(wc -l <$program.c)" -le 65 ] || { echo "reading: $program.c is too long"; bad=1; }
    # shellcheck disable=SC2086
    $CC -std=c11 -D_GNU_SOURCE -Wall -Wextra ${WERROR:-} -I"$SRCDIR/include" -o $program \
        $program.c -L"$B/lib" -ljsprof -ljsprof-read -Wl,-rpath,"$B/lib" -lpthread
done
./sampler bytes.cap >page.html
[ "$(wc -c <page.html)" = 516000 ] || { echo 'reading: not 516,000 bytes'; bad=1; }
./report bytes.cap >out
cat out >said
grep -q '^1000 pages, the longest took [0-9]' out || { echo "reading: $(cat out)"; bad=1; }
# 5,160 sampled bytes on average: a standard error of the share is 0.24 points.
share=$(sed -n 's/^ *\([0-9.]*\)% row (site.page)$/\1/p' out)
awk -v share="$share" 'BEGIN { exit !(share > 95.5 && share < 98.3) }' ||
    { echo "reading: row has $share%, not 96.9%"; bad=1; }
run report --measure alloc --csv bytes.cap
has '"row (site.page)",vm,'
run list --csv bytes.cap
has 'counter,"site","pages",1000,'

# Three, and then five, of ten samples of 200 are of work.
many() # N of work, N of rest
{
    n=0
    while [ $n -lt "$1" ]; do echo work=1; n=$((n + 1)); done
    n=0
    while [ $n -lt "$2" ]; do echo rest=1; n=$((n + 1)); done
}
# shellcheck disable=SC2046
{
    "$tmp/captures" of $(many 60 140) >before.cap
    "$tmp/captures" of $(many 64 136) >same.cap
    "$tmp/captures" of $(many 100 100) >after.cap
}
export JSPROF_READ="$B/lib/libjsprof-read.so.0"
try() # PROGRAM...
{
    "$@" top before.cap >out || { echo "reading: $*: top fails"; bad=1; }
    printf '%14d rest\n%14d work\n' 1400000000 600000000 >want
    sed 's/ (.*//' out | cmp -s - want || { echo "reading: $*: top says $(cat out)"; bad=1; }
    "$@" grew before.cap same.cap || { echo "reading: $*: grew without a reason"; bad=1; }
    ! "$@" grew before.cap after.cap >out || { echo "reading: $*: grew is not seen"; bad=1; }
    grep -q '^ 30.0% ->  50.0%, chance .*: work' out || { echo "reading: $*: $(cat out)"; bad=1; }
    ! "$@" top nowhere.cap >out 2>err || bad=1
    grep -q 'nowhere.cap: No such file' err || { echo "reading: $*: $(cat err)"; bad=1; }
    [ "$(wc -l <"$2")" -le 80 ] || { echo "reading: $2 has more than 80 lines"; bad=1; }
}
tried=0
if command -v python3 >/dev/null; then
    try python3 "$SRCDIR/examples/read/functions.py"
    tried=$((tried + 1))
fi
if command -v luajit >/dev/null; then
    try luajit "$SRCDIR/examples/read/functions.lua"
    tried=$((tried + 1))
fi
[ $bad = 0 ] || exit 1
[ $tried = 2 ] || { echo 'SKIP: needs luajit and python3'; exit 77; }
