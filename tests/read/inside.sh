#!/bin/sh
# read/inside.sh - the reading library gives what the recorder counted of threads and of the
# session, exact calls as they were chosen and in order, how they differ from another capture's,
# and the records of the file.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"
$CC -std=c11 -Wall -Wextra ${WERROR:-} -I"$SRCDIR/include" -o inside "$SRCDIR/tests/read/inside.c" \
    -L"$B/lib" -ljsprof-read -Wl,-rpath,"$B/lib"

# What it should say is read from standard input.
says() # STATUS ARGUMENT...
{
    want=$1 rc=0
    shift
    ./inside "$@" >ours || rc=$?
    sed -i '/^META jsprof.version /d' ours
    [ $rc = "$want" ] || { echo "inside $*: exit status $rc, not $want"; bad=1; }
    diff - ours || { echo "inside $*: says something else"; bad=1; }
}

says 0 counts good.cap <<EOF
4 stacks, 0 packed, little-endian, session 1 final, 0 forks, total 0
all: 19 = 16 + 3
thread 100: 15 = 12 + 3 (3), cpu 12000000, newest 1, in file 12
thread 200: 4 = 4 + 0 (0), cpu 4000000, newest 1, in file 4
vm 80000000 of 80000000
work 1, nobody 0
EOF
./inside counts crowdbig.cap >ours
grep -q '^139 stacks, 0 packed, big-endian' ours || { echo 'crowdbig: not big-endian'; bad=1; }
grep -q '^vm 122000000 of 139000000$' ours || { echo 'crowdbig: other functions of the VM'; bad=1; }

sum='1003 calls in 200000000 ns, 5000 bytes, 2 threads, of host script.x, 0 samples
counts 1111'
says 0 calls calls.cap '' '' 0 self <<EOF
$sum
/srv/a.js:5 1000 180000000 190000000 190000 0.900 vm
/srv/a.js:1 1 10000000 200000000 200000000 0.050 vm
:0 2 10000000 10000000 5000000 0.050 gc
3 > 0 1 200000000 200000000
0 > 1 1 190000000 190000000
1 > 1 999 185000000 185185
1 > 2 2 10000000 5000000
4 > 4 7 1000 142
EOF
says 0 calls calls.cap '^fib|^coll' '' 0 name <<EOF
$sum
:0 2 10000000 10000000 5000000 0.050 gc
/srv/a.js:5 1000 180000000 190000000 190000 0.900 vm
1 > 2 2 10000000 5000000
1 > 1 999 185000000 185185
0 > 1 1 190000000 190000000
EOF
says 0 calls calls.cap '' 'a\.js$' 0.06 total <<EOF
$sum
/srv/a.js:1 1 10000000 200000000 200000000 0.050 vm
/srv/a.js:5 1000 180000000 190000000 190000 0.900 vm
3 > 0 1 200000000 200000000
0 > 1 1 190000000 190000000
1 > 1 999 185000000 185185
EOF
says 1 calls calls.cap 'a(' '' 0 self <<EOF
$sum
-22: only: Unmatched ( or \\(
EOF
says 1 calls good.cap '' '' 0 self <<EOF
-61: no exact calls in this capture: the host counted none
EOF
says 0 changes calls.cap calls2.cap self 0 <<EOF
/srv/a.js:9 11, 1000 to 2000, 180000000 to 300000000
:0 01, 0 to 5, 0 to 90000000
:0 10, 2 to 0, 10000000 to 0
/srv/a.js:1 11, 1 to 1, 10000000 to 10000000
EOF
says 0 changes calls.cap calls2.cap name 0.5 <<EOF
/srv/a.js:9 11, 1000 to 2000, 180000000 to 300000000
/srv/a.js:1 11, 1 to 1, 10000000 to 10000000
EOF
says 1 changes calls.cap calls2.cap bad 0 <<EOF
-22: sort knows self, total, calls, each, bytes and name, not "bad"
EOF
says 0 records good.cap <<EOF
META jsprof.clock cpu 0
META jsprof.hz 1000 0
META jsprof.host host 0
FILE jsprof/samples  67
FILE jsprof/losses  312
8 samples, some names
EOF
./inside records events.cap >ours
marks=$("$jsprof" dump --csv events.cap | grep -c ',MARK,')
[ "$marks" -ge 20 ] && [ "$(grep -c '^MARK ' ours)" = "$marks" ] ||
    { echo "records of events.cap: not all of $marks marks"; bad=1; }
exit $bad
