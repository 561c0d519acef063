#!/bin/sh
# exports.sh BUILD WORK - the time that each export of a million samples takes.
#
# SPDX-License-Identifier: MIT
#
# The capture is gen_capture's: a million samples of 30 frames, 10,000 different stacks, with
# weights and lines. From open to the renamed file, by the wall clock; each round does all
# formats in turn. Beside it: what was written. perf's text is read from a pipe and is the
# longest, so it goes into one; into a file, the machine's own writing of as many bytes
# is next to it.
set -eu
build=$1 work=$2
rounds=5
[ -z "${QUICK:-}" ] || rounds=2
"$build/tests/bench/gen_capture" 1000000 30 10000 lines >"$work/big.cap"

for round in $(seq $rounds); do
    for format in pprof firefox speedscope chrome perfetto folded csv json callgrind; do
        before=$(date +%s%N)
        "$build/bin/jsprof" convert --to $format -o "$work/big.out" "$work/big.cap"
        after=$(date +%s%N)
        echo "$format $((after - before)) $(stat -c %s "$work/big.out")"
        rm -f "$work/big.out"
    done
    before=$(date +%s%N)
    bytes=$("$build/bin/jsprof" convert --to perf "$work/big.cap" | wc -c)
    after=$(date +%s%N)
    echo "perf $((after - before)) $bytes"
    "$build/bin/jsprof" convert --to perf -o "$work/big.out" "$work/big.cap"
    between=$(date +%s%N)
    echo "perf_(into_a_file) $((between - after)) $bytes"
    rm -f "$work/big.out"
    before=$(date +%s%N)
    head -c "$bytes" /dev/zero >"$work/big.out"
    echo "perf_(as_many_zeros) $(($(date +%s%N) - before)) $bytes"
    rm -f "$work/big.out"
done | sort -k1,1 -k2,2n | awk '
    function quantile(q,  at, i) {
        at = 1 + q * (n - 1); i = int(at)
        return i < n ? v[i] + (at - i) * (v[i + 1] - v[i]) : v[n]
    }
    function row(  median, low, high, notch, holds) {
        if (!n) return
        median = quantile(0.5); low = quantile(0.25); high = quantile(0.75)
        notch = 1.57 * (high - low) / sqrt(n)
        holds = median + notch <= 2 ? "yes" : median - notch > 2 ? "NO" : "noise"
        limit = format ~ /_/ ? "-" : "<= 2 s" # those rows are told, not judged
        if (limit == "-") holds = "-"
        gsub("_", " ", format)
        printf "row\texport 1M samples: %s\t%s\t%.2f s (%.2f..%.2f)\t%.1f MB written\t%s\n",
            format, limit, median, low, high, bytes / 1e6, holds
        n = 0
    }
    $1 != format { row(); format = $1 }
    { v[++n] = $2 / 1e9; bytes = $3 }
    END { row() }'
