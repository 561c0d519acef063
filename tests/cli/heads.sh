#!/bin/sh
# cli/heads.sh - the head of an answer counts the samples that the options chose: in text as its
# last lines do, in JSON as its rows do.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

# Of text "8 samples · 80 ms of CPU time in ..." and "100% is 80 ms of CPU time, in 8 samples."
same_ends() # COMMAND...
{
    run "$@" good.cap
    is_rc 0
    first=$(sed -n '2s/^\([0-9,]*\) samples\{0,1\} · \(.*\) of CPU time in .*/\1 \2/p' out)
    last=$(sed -n 's/^100% is \(.*\) of CPU time, in \([0-9,]*\) samples\{0,1\}\.$/\2 \1/p' out)
    [ -n "$first" ] && [ "$first" = "$last" ] || wrong "begins with \"$first\", ends with \"$last\""
}

json_is() # SAMPLES VALUE COMMAND...
{
    counts="\"samples\":$1,\"value\":$2,\"idle_samples\":0,\"idle_value\":0,\"rows\""
    shift 2
    run "$@" --json good.cap
    is_rc 0
    has "$counts"
}

for filter in --native '--thread 200' '--only leaf' '--time 14ms..16ms' '--under work'; do
    for command in report tree threads 'callers work' 'callees work'; do
        case $command,$filter in call*,--only*) continue ;; esac # not on such a stack
        # shellcheck disable=SC2086
        same_ends $command $filter
    done
done
for command in report tree threads 'callers work' list 'list --each'; do
    # shellcheck disable=SC2086
    {
        json_is 8 80000000 $command
        json_is 2 20000000 $command --thread 200
        json_is 2 20000000 $command --time 14ms..16ms
        json_is 5 50000000 $command --under work
    }
done
exit $bad
