#!/bin/sh
# bench/continuous.sh - what continuous mode costs: runs of a Lark program with it, with a session
# that waits (JSPROF_CONTROL=1), and without a session, in turn; and the bytes of its segments.
#
#     [PAIRS=5] [ROUNDS=2000] [SEGMENTS=12] [JSPROF_HZ=19] B=build tests/bench/continuous.sh [rows]
#
# rows: as rows of the bench's table, each beside its budget. The difference of a pair of runs has
# the noise of the machine, which is larger than 0.1 %: if the budget is within that of the median,
# the CPU time of the library's threads decides, which the kernel counts. QUICK=1: one pair.
#
# The interpreter keeps its stack for a session whether that records or not, so what the recording
# itself costs is the difference to a session that waits. The first segments of a file have the
# names of functions, and stacks that later ones need not have again; what a day takes follows from
# the second half of them, and from the first half 24 times.
#
# SPDX-License-Identifier: MIT
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
case ${B:-build} in /*) b=$B ;; *) b=$root/${B:-build} ;; esac
if [ "${1:-}" = rows ]; then
    command -v python3 >/dev/null || {
        printf 'note\tno row of continuous mode: needs python3\n'
        exit 0
    }
    if [ -n "${QUICK:-}" ]; then export PAIRS=1 ROUNDS=400 SEGMENTS=2; fi
    out=$(PAIRS=${PAIRS:-4} ROUNDS=${ROUNDS:-1000} sh "$0") || { echo "$out" >&2; exit 1; }
    echo "$out" | awk '
    function row(budget, limit, measured, beside, holds) {
        printf "row\tcontinuous: %s\t%s\t%s\t%s\t%s\n", budget, limit, measured, beside, holds
    }
    /^CPU, a session that waits, of plain: / {
        printf "note\tcontinuous: a session that waits, beside none: %s %% %s\n", $8, $10
    }
    /^CPU, continuous, of waits: / {
        split($0, range, /[(]|[.][.]|[)]/)
        least = range[2] + 0; most = range[3] + 0
        row("CPU, beside a session that waits", "<= 0.1 %", $5 " %", least " to " most " %",
            most <= 0.1 ? "yes" : least <= 0.1 || least == most ? "noise" : "NO")
    }
    /^the library.s threads: / {
        row("CPU, the library'"'"'s threads", "<= 0.1 %", $4 " %", "of " $7 " s",
            $4 <= 0.1 ? "yes" : "NO")
    }
    /^memory: / {
        row("memory", "<= 2 MiB", $(NF - 1) " KiB", $2 " KiB without it",
            $(NF - 1) <= 2048 ? "yes" : "NO")
    }
    /^bytes: / {
        row("a day of one process", "<= 20 MB", $(NF - 1) " MB", $7 " bytes a segment",
            $(NF - 1) <= 20 ? "yes" : "NO")
    }'
    exit
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
program=$root/examples/lark/programs/markdown.lark
unset JSPROF JSPROF_CONTROL JSPROF_CONTINUOUS

# one NAME [VARIABLE=VALUE]...: appends "CPU-SECONDS PEAK-KIB WALL-SECONDS" to the file NAME.
one()
{
    name=$1
    shift
    env "$@" python3 -B - "$b/bin/lark" "$program" "$root/docs/capture.md" "${ROUNDS:-2000}" \
        >>"$tmp/$name" <<'END'
import os
import sys
import time

begin = time.monotonic()
pid = os.fork()
if pid == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(pid, 0)
if status:
    sys.exit('the program failed')
print('%.4f %d %.2f' % (used.ru_utime + used.ru_stime, used.ru_maxrss, time.monotonic() - begin))
END
    tail -n 1 "$tmp/$name"
}

for pair in $(seq "${PAIRS:-5}"); do
    echo "$pair: $(one plain X=) plain, $(one waits JSPROF_CONTROL=1) waits," \
        "$(one on "JSPROF_CONTINUOUS=$tmp/folder") continuous"
done
peak() { sort -n -k 2 "$tmp/$1" | head -n 1 | cut -d ' ' -f 2; }
# Pairs of neighbours: a machine that is slow for a while is slow for both.
paste -d ' ' "$tmp/plain" "$tmp/waits" "$tmp/on" | awk '{
    printf "%.3f %.3f\n", 100 * ($4 / $1 - 1), 100 * ($7 / $4 - 1)
    seconds += $3 + $6 + $9 }
    END { printf "%.0f\n", seconds >"/dev/stderr" }' >"$tmp/pairs" 2>"$tmp/seconds"
for what in '1 a session that waits, of plain' '2 continuous, of waits'; do
    # The median, and where it is in 19 of 20 such measurements: by the order of the pairs.
    cut -d ' ' -f "${what%% *}" "$tmp/pairs" | sort -n | awk -v what="${what#* }" '{ d[NR] = $1 }
        END {
            least = int(NR / 2 - 0.98 * sqrt(NR))
            least = least < 1 ? 1 : least
            printf "CPU, %s: %+.2f %% (%+.2f..%+.2f)\n", what,
                (d[int((NR + 1) / 2)] + d[int(NR / 2) + 1]) / 2, d[least], d[NR + 1 - least] }'
done
echo "runs: $(cat "$tmp/seconds") s in all"
awk -v a="$(peak waits)" -v b="$(peak on)" 'BEGIN {
    printf "memory: %d KiB waits, %d KiB continuous: %+d KiB\n", a, b, b - a }'

JSPROF_CONTINUOUS=$tmp/sizes "$b/bin/lark" "$program" "$root/docs/capture.md" 100000000 >/dev/null &
pid=$!
trap 'kill $pid; rm -rf "$tmp"' EXIT
half=$((${SEGMENTS:-12} / 2))
sleep $((10 * half + 2))
first=$(cat "$tmp"/sizes/*.cap | wc -c)
sleep $((10 * half))
last=$(cat "$tmp"/sizes/*.cap | wc -c)
# The kernel counts the CPU time of each of our threads to the nanosecond, whatever else runs.
for task in /proc/$pid/task/*; do
    echo "$(cat "$task/comm") $(cut -d ' ' -f 1 "$task/schedstat")"
done | awk '/^jsprof/ { ours += $2; printf "%s: %.1f ms\n", $1, $2 / 1e6; next } { host += $2 }
    END { printf "the library'"'"'s threads: %.3f %% of %.2f s of CPU time\n", 100 * ours / host,
        host / 1e9 }'
awk -v first="$first" -v last="$last" -v n="$half" 'BEGIN {
    each = (last - first) / n
    printf "bytes: %d after %d segments, then %.0f a segment; a day: %.1f MB\n", first, n, each,
        (24 * first + (8640 - 24 * n) * each) / 1e6 }'
