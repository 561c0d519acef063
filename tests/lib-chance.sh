# lib-chance.sh - what chance makes of a number of samples; sourced, not run.
#
# SPDX-License-Identifier: MIT

# Is SHARE, in percent, near TRUTH? Samples of true chance TRUTH deviate by less than 4.42 standard
# deviations in all but one of 100,000 cases. SLACK, in points, is for what is no chance: the time
# that the program's own clock takes, and a sample of one time that weighs more than others.
near() # SHARE TRUTH SAMPLES [SLACK]
{
    awk -v s="$1" -v p="$2" -v n="$3" -v slack="${4:-0}" 'BEGIN {
        most = n > 0 ? 4.42 * sqrt(p * (100 - p) / n) + 50 / n + slack : 0
        printf "%.2f %%, wanted %.2f +- %.2f, of %.0f samples\n", s, p, most, n
        exit !(n >= 20 && s - p <= most && p - s <= most) }'
}
