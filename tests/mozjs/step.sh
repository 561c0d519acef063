#!/bin/sh
# step.sh - a script in step with the scheduler's tick: the wall clock finds both of its functions.
# Prints what the CPU clock finds, in step and out of step. With JSPROF_SOURCE=timer these differ:
# docs/bench.md says why.
# `chrt -f 1` before the command keeps other programs out.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
tick_us=4000 # of a kernel with 250 ticks a second, as Debian has

first() # CAPTURE: the share of first() of the samples, in percent
{
    "$JSPROF_TOOL" convert --to folded --vm "$1" | awk '/;first \(/ { a += $NF }
        /;second \(/ { b += $NF } END { printf "%.1f\n", a + b ? 100 * a / (a + b) : -1 }'
}

worth() # how many samples of equal weight there are
{
    weighed . "(first|second) [(]" | cut -d ' ' -f 2
}

echo 'clock  cycle    program  profile (share of the first function, percent)'
for clock in wall cpu; do
    for cycle in "$tick_us" $((tick_us + 300)); do
        truth=$("$GJS" --profile-clock=$clock --profile-output=cap "$SCRIPTS/in_step.js" "$cycle")
        found=$(first cap)
        echo "$clock   $cycle us  $truth  $found"
        [ $clock = cpu ] || check "wall clock, cycle of $cycle us" near "$found" "$truth" \
            "$(worth)" 3
    done
done

finish
