#!/bin/sh
# continuous_rows.sh - what continuous.sh measures as rows of the bench's table, each beside its
# budget.
#
# The difference of a pair of runs has the noise of the machine, which is larger than 0.1 %: if the
# budget is within that of the median, the CPU time of the library's threads decides, which the
# kernel counts. PAIRS=30 ROUNDS=1000 takes half an hour, if a round takes 20 ms. QUICK=1: one pair.
#
# SPDX-License-Identifier: MIT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || {
    printf 'note\tno row of continuous mode: needs python3\n'
    exit 0
}
if [ -n "${QUICK:-}" ]; then export PAIRS=1 ROUNDS=400 SEGMENTS=2; fi
out=$(PAIRS=${PAIRS:-4} ROUNDS=${ROUNDS:-1000} sh "$here/continuous.sh") ||
    { echo "$out" >&2; exit 1; }
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
