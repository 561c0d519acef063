#!/bin/sh
# realms.sh - jsprof-gjs records a program of several threads, each with a context of its own and
# hundreds of short realms: results are as ever, and each script finds the object `jsprof`.
# realms_host.cpp is the program.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
realms=300
all=$((4 * realms + 100))

# jsprof-gjs is for the SpiderMonkey of gjs.
check 'it compiles' compile_host "$ENGINE" "$SRCDIR/tests/mozjs/realms_host.cpp" host
./host 4 $realms >out
check 'alone: its status and output' test $? = 3 -a "$(cat out)" = $all

# On a busy machine some find the queue full, and are counted.
each_realm()
{
    "$JSPROF_TOOL" list --csv cap | tee list | grep JIT
    there=$(sed -n 's/^mark,"JavaScript","realm",\([0-9]*\),.*/\1/p' list)
    lost=$("$JSPROF_TOOL" dump cap | sed -n 's/.* marks_lost=\([0-9]*\).*/\1/p' | tail -n 1)
    echo "$there marks of $all, $lost lost"
    [ "$there" -gt $((all / 10 * 9)) ] && [ "$there" -le $all ] && [ $((there + lost)) -ge $all ]
}

recorded() # WHAT OPTION...
{
    recorded_what=$1
    shift
    "$B/bin/jsprof-gjs" --profile-output=cap "$@" -- ./host 4 $realms >out 2>err
    check "$recorded_what: its status and output" test $? = 3 -a "$(cat out)" = $all
    check "$recorded_what: no messages" test ! -s err
    check "$recorded_what: whole" whole cap
    check "$recorded_what: a mark of each realm" each_realm
}

recorded 'by elapsed time' --profile-clock=wall
"$JSPROF_TOOL" report --csv --limit=0 cap >report.csv
check 'its functions' grep -q '^"\{0,1\}spin (realm.js:1:' report.csv
recorded 'with all options' --profile-alloc --profile-tasks --profile-threads=all \
    --profile-calls=on
finish
