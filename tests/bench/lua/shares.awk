# shares.awk - how near the four shares of shares.lua are to the truth: of each the root mean
# square of its errors over the runs, divided by that of as many independent draws. Over 80
# runs even a perfect sampler shows 1 +- 0.08.
#
# Reads what shares.lua printed, then `jsprof dump` of each capture, with "run N" before it.
# Prints the worst over chance, the worst in percentage points and its kind, the runs,
# and whether it is within 1.2 of chance.
#
# SPDX-License-Identifier: MIT
$1 == "line" { kind[$3] = $2; names[$2] = 1; next }
$1 == "truth" { truth[$2, $3] = $4; all[$2] += $4; runs[$2] = 1; next }
$1 == "seen" { seen[$2, $3] = $4; of[$2] += $4; n[$2] += $4; next }
$1 == "run" { count(); run = $2; next }
/ SAMPLE / {
    count()
    match($0, /weight [0-9]+/)
    weight = substr($0, RSTART + 7, RLENGTH - 7)
    on = 1
    next
}
# The innermost of the four kinds' functions, by where it begins.
on && /^    [0-9a-f]+  / {
    if (!what && match($0, /shares\.lua:[0-9]+\)/))
        what = kind[substr($0, RSTART + 11, RLENGTH - 12)]
    next
}
{ on = 0 }
function count() {
    if (what) {
        seen[run, what] += weight
        of[run] += weight
        n[run]++
    }
    what = ""
}
END {
    count()
    for (r in runs) {
        if (!n[r])
            continue
        rounds++
        samples += n[r]
        for (k in names) {
            p = truth[r, k] / all[r]
            square[k] += (seen[r, k] / of[r] - p) ^ 2 / (p * (1 - p) / n[r])
            off[k] += (seen[r, k] / of[r] - p) ^ 2
        }
    }
    for (k in names) {
        e = rounds ? sqrt(square[k] / rounds) : 1e9
        points = rounds ? 100 * sqrt(off[k] / rounds) : 100
        if (verbose)
            printf "    %s: %.2fx chance, %.1f points\n", k, e, points >"/dev/stderr"
        if (e > worst) worst = e
        if (points > most) { most = points; which = k }
    }
    holds = worst <= 1.2 ? "yes" : worst > 1.2 * (1 + 2 / sqrt(2 * rounds)) ? "NO" : "noise"
    printf "%.2fx\t%.1f points (%s)\t%d runs of %d samples\t%s\n", worst, most, which, rounds, \
        rounds ? samples / rounds : 0, holds
}
