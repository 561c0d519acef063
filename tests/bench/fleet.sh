#!/bin/sh
# bench/fleet.sh - what looking at running processes costs, each on its own:
#
#     B=build sh tests/bench/fleet.sh serve    CPU, memory and delay of jsprof serve
#     B=build sh tests/bench/fleet.sh push     bytes of a profile of 1,000 samples
#     B=build sh tests/bench/fleet.sh top      the host's CPU time for it, and the first picture
#     B=build sh tests/bench/fleet.sh dump     how long it stops 200 threads
#
# HOSTS=500, BUSY=20, WINDOWS=3 and SECONDS_OF=10 are of serve, HZ=100 is of push. The hosts of
# serve have one thread each. It computes a tenth of a millisecond, ten times a second, or 3 ms
# in those that are BUSY. The others have less CPU time in a window than a period of 100 Hz:
# most of them have no sample. Each busy one must have some.
#
# SPDX-License-Identifier: MIT
what=${1:?'serve, push, top or dump'}
SRCDIR=$(cd "$(dirname "$0")/../.." && pwd)
case ${B:-build} in /*) ;; *) B=$SRCDIR/${B:-build} ;; esac
. "$SRCDIR/tests/serve/lib.sh"
PYTHONPATH=$SRCDIR/tests/serve
export PYTHONPATH
host=$B/tests/fault/listen_host

case $what in
serve)
    python3 -B "$SRCDIR/tests/bench/fleet.py" serve "$jsprof" "$host" "${HOSTS:-500}" \
        "${WINDOWS:-3}" "${SECONDS_OF:-10}" "${BUSY:-20}"
    ;;
push)
    programs=$SRCDIR/examples/lark/programs
    for program in 'shares 100000' "markdown $SRCDIR/docs/capture.md 1000000" 'nbody 1000000000'; do
        words=${program#* }
        program=${program%% *}
        # shellcheck disable=SC2086
        start "$B/bin/lark" --profile-control "$programs/$program.lark" $words
        mkdir "$program"
        "$jsprof" push --to folder --windows 1 --seconds 10 --hz "${HZ:-100}" "$program" 2>err ||
            cat err
        stop "$pid"
        python3 -B "$SRCDIR/tests/bench/fleet.py" size "$program" "$program"/*
    done
    ;;
top)
    start "$host" run 1
    python3 -B "$SRCDIR/tests/bench/fleet.py" top "$jsprof" "$pid" "${SECONDS_OF:-10}"
    ;;
dump)
    for kind in sleep run; do
        start "$host" $kind 200
        until grep -q ready host.out; do sleep 0.05; done
        python3 -B "$SRCDIR/tests/serve/ask.py" "$XDG_RUNTIME_DIR/jsprof/$pid.sock" >out
        stop "$pid"
        sed -n "s/.*samples=\([0-9]*\).*handler_ns=\([0-9]*\).*/200 threads that $kind: \
\1 samples, \2 ns of stopped time in sum/p" out
    done
    ;;
*)
    echo "no measurement: $what"
    exit 2
    ;;
esac
