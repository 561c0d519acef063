#!/bin/sh
# html.sh BUILD WORK - the page of a million samples of 30 frames: how large it is, how
# long it takes to write, and how soon it answers in Chromium. Prints rows of the table.
#
# SPDX-License-Identifier: MIT
set -eu
B=$1 work=$2
SRCDIR=$(cd "$(dirname "$0")/../.." && pwd)
rounds=${QUICK:+5}
rounds=${rounds:-15}

# row BUDGET LIMIT UNIT BESIDE <figures, one a line
row()
{
    sort -n | awk -v budget="$1" -v limit="$2" -v unit="$3" -v beside="$4" '
        { v[NR] = $1 }
        function quantile(q, at, i)
        {
            at = q * (NR - 1) + 1
            i = int(at)
            return i >= NR ? v[NR] : v[i] + (at - i) * (v[i + 1] - v[i])
        }
        END {
            median = quantile(0.5)
            low = quantile(0.25)
            high = quantile(0.75)
            notch = 1.57 * (high - low) / sqrt(NR)
            holds = median + notch <= limit ? "yes" : median - notch > limit ? "NO" : "noise"
            printf "row\t%s\t<= %s %s\t%.2f %s (%.2f..%.2f)\t%s\t%s\n", budget, limit, unit, \
                median, unit, low, high, beside, holds
        }'
}

"$B/tests/bench/gen_capture" 1000000 30 20000 lines >"$work/big.cap"
for i in $(seq "$rounds"); do
    began=$(date +%s%N)
    "$B/bin/jsprof" html "$work/big.cap" -o "$work/big.html"
    echo "$began $(date +%s%N)" | awk '{ print ($2 - $1) / 1e9 }'
done >"$work/written"
size=$(wc -c <"$work/big.html")
echo "$size" | awk '{ print $1 / 1e6 }' | row 'page of 1M samples, size' 3 MB \
    "a capture of $(wc -c <"$work/big.cap" | awk '{ printf "%.0f MB", $1 / 1e6 }')"
"$B/tests/bench/gen_capture" 1000000 30 20000 random >"$work/random.cap"
"$B/bin/jsprof" html "$work/random.cap" -o "$work/random.html"
wc -c <"$work/random.html" | awk '{ print $1 / 1e6 }' |
    row 'page of 1M samples of random stacks, size' 3 MB 'each branch is another one'
row 'page of 1M samples, written in' 2 s 'loading included' <"$work/written"

. "$SRCDIR/tests/node/lib.sh"
CHROMIUM=$(command -v chromium) || CHROMIUM=
export CHROMIUM
if [ -z "$CHROMIUM" ] || [ -z "$node" ] || [ ! -d "$modules/playwright-core" ]; then
    printf 'note\tpage in a browser: not measured, needs chromium and make deps\n'
    exit 1
fi
"$node" "$SRCDIR/tests/browser/interactive.js" "$work/big.html" "$rounds" >"$work/times"
awk '{ print $1 / 1000 }' "$work/times" | row 'page of 1M samples, until it answers' 1 s \
    'Chromium, headless, from the start of loading'
awk '{ print $2 / 1000 }' "$work/times" | row 'page of 1M samples, turned bottom-up' 1 s \
    'from the click to the picture'
