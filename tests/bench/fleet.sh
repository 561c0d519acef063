#!/bin/sh
# bench/fleet.sh - what looking at running processes costs, each on its own:
#
#     B=build sh tests/bench/fleet.sh serve    CPU, memory and delay of jsprof serve
#     B=build sh tests/bench/fleet.sh push     bytes of a profile of 1,000 samples
#     B=build sh tests/bench/fleet.sh top      the host's CPU time for it, and the first picture
#     B=build sh tests/bench/fleet.sh dump     how long it stops 200 threads
#     B=build sh tests/bench/fleet.sh rows     all as rows of the bench's table, each beside its
#                                              budget; QUICK=1 takes 100 hosts in place of 500
#
# HOSTS=500, BUSY=20, WINDOWS=3 and SECONDS_OF=10 are of serve, HZ=100 is of push. The hosts of
# serve have one thread each. It computes a tenth of a millisecond, ten times a second, or 3 ms
# in those that are BUSY. The others have less CPU time in a window than a period of 100 Hz:
# most of them have no sample. Each busy one must have some.
#
# SPDX-License-Identifier: MIT
what=${1:?'serve, push, top, dump or rows'}
if [ "$what" = rows ]; then
    set -eu
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    command -v python3 >/dev/null || {
        printf 'note\tno row of serve, push, top and dump: needs python3\n'
        exit 0
    }
    [ -z "${QUICK:-}" ] || export HOSTS=100 WINDOWS=1
    for what in serve push top dump; do
        sh "$0" "$what" >"$work/$what" 2>&1 || { cat "$work/$what" >&2; exit 1; }
    done

    # A budget is for as many samples as the text says, so a profile of fewer decides nothing.
    cat "$work/serve" "$work/push" "$work/top" "$work/dump" | awk '
    function row(budget, limit, measured, beside, holds) {
        printf "row\t%s\t%s\t%s\t%s\t%s\n", budget, limit, measured, beside, holds
    }
    function field(before,  rest) { # the number that comes after these words
        rest = substr($0, index($0, before) + length(before))
        return rest + 0
    }
    / hosts, .* windows of / { hosts = $1; windows = $3 " windows of " $6 " s" }
    /^serve: / {
        cpu = field("s of CPU, "); own = field("at most "); held = field("its own, ")
        row("serve: CPU, " hosts " hosts", "<= 2 % of a core", cpu " %", windows,
            cpu <= 2 ? "yes" : "NO")
        mb = (own + held) * 1024 / 1e6
        row("serve: memory, " hosts " hosts", "<= 64 MB", sprintf("%.1f MB", mb),
            own " KiB of its own, " held " KiB of captures", mb <= 64 ? "yes" : "NO")
    }
    /^answers: / {
        most = 0; all = ""
        for (i = 2; $i + 0 == $i; i++) { all = all " " $i; if ($i + 0 > most) most = $i + 0 }
        row("serve: answer after the window", "<= 0.2 s", most " s", "each:" all,
            most <= 0.2 ? "yes" : "NO")
    }
    / a profile of / {
        name = $1; samples = $5; bytes = $7
        row("push: 1,000 samples of " substr(name, 1, length(name) - 1), "<= 4300 bytes",
            bytes " bytes", samples " samples",
            bytes > 4300 && samples <= 1000 ? "NO" : samples < 900 ? "noise" : "yes")
    }
    /^top: / {
        first = field("picture after "); share = field("threads have ")
        row("top: first picture", "<= 1 s", first " s", "-", first <= 1 ? "yes" : "NO")
        row("top: of the CPU of its host", "<= 0.5 %", share " %", "of the host" \
            substr($0, index($0, "host") + 4), share <= 0.5 ? "yes" : "NO")
    }
    /^200 threads that / {
        kind = substr($4, 1, length($4) - 1); ms = sprintf("%.1f", $7 / 1e6) + 0
        limit = kind == "sleep" ? 0 : 50
        row("dump: 200 threads that " kind, limit ? "<= 50 ms stopped" : "0 ms stopped",
            ms " ms", $5 " samples", $5 < 200 ? "noise" : ms <= limit ? "yes" : "NO")
    }'
    exit
fi
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
