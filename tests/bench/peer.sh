#!/bin/sh
# peer.sh - the profiler that gjs itself has, beside ours, in the same run: the share of each kind
# of work that both find and the program's own clock, and what each costs. Where gjs was built
# without it, as in Debian 12, ours alone. SHARES_MS: how long each part takes; PEER_ROUNDS: how
# often the cost is measured.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/mozjs/lib.sh"
cd "$SCRATCH" || exit 1
ms=${SHARES_MS:-3000}
rounds=${PEER_ROUNDS:-3}
parts='ion calls recursion sort regexp churn generators listing'

# The outermost frame that is a part counts. Lines "part weight"; "none": no part is on the stack.
found() # CAPTURE
{
    "$JSPROF_TOOL" convert --to folded --vm "$1" | PARTS="$parts" awk '
        BEGIN { n = split(ENVIRON["PARTS"], part, " ") }
        {
            count = $NF
            frames = split($0, frame, ";")
            for (f = 1; f <= frames; f++)
                for (i = 1; i <= n; i++)
                    if (index(frame[f], part[i] " (") == 1 && frame[f] ~ /parts[.]js/) {
                        sum[part[i]] += count
                        next
                    }
            sum["none"] += count
        }
        END {
            for (i = 1; i <= n; i++)
                print part[i], sum[part[i]] + 0
            print "none", sum["none"] + 0
        }'
}

record() # NAME COMMAND...
{
    record_name=$1
    shift
    # shellcheck disable=SC2086
    BURN_MS=$ms SHARES=$SCRATCH/$record_name.shares "$@" "$SCRIPTS/parts.js" $parts >out 2>err
    check "$record_name: the program's status" test $? = 0
    found "$record_name.cap" >"$record_name.found"
    awk -v n="$("$JSPROF_TOOL" dump "$record_name.cap" | grep -c ' SAMPLE ')" '
        NR == FNR { truth[$1] = $2; next }
        $1 == "none" { next }
        { is[$1] = $2; all += $2 }
        END { for (p in is) if (all)
            printf "%s %.2f %.2f %d\n", p, 100 * truth[p], 100 * is[p] / all, n }' \
        "$record_name.shares" "$record_name.found" | sort >"$record_name.table"
    check "$record_name: a row for every part" test "$(wc -l <"$record_name.table")" = 8
}

record ours "$GJS" --profile-clock=wall --profile-output=ours.cap
# Three standard errors of a share of one half, and what the steps between the parts may cost.
# Time in no part is the program's start.
check 'ours: every share' awk '{ e = $3 - $2; if (e < 0) e = -e
    if (e > 150 / sqrt($4) + 0.7) bad = 1 } END { exit bad }' ours.table

gjs-console --profile=probe.syscap -c '1' >out 2>err
[ -s probe.syscap ] || { echo 'this gjs was built without its profiler'; finish; }
record theirs gjs-console --profile=theirs.cap

echo "part         program   ours   error |  program   gjs's   error"
join ours.table theirs.table | awk '{
    printf "%-12s %6.2f %7.2f %6.2f | %7.2f %7.2f %7.2f\n", $1, $2, $3, $3 - $2, $5, $6, $6 - $5 }'
nowhere() # NAME
{
    awk '{ all += $2; if ($1 == "none") none = $2 } END { printf "%.1f %%", 100 * none / all }' \
        "$1.found"
}

echo "in no part: ours $(nowhere ours), gjs's $(nowhere theirs) of the time"
echo "samples: ours $(awk 'NR == 1 { print $4 }' ours.table)," \
    "gjs's $(awk 'NR == 1 { print $4 }' theirs.table)"
worst() # TABLE
{
    awk '{ e = $3 - $2; if (e < 0) e = -e; if (e > most) most = e }
        END { printf "%.2f\n", most }' "$1"
}
echo "largest error: ours $(worst ours.table) points, gjs's $(worst theirs.table)"
cost() # NAME KIND COMMAND...: adds a line to NAME
{
    cost_name=$1 cost_kind=$2
    shift 2
    COST=$SCRATCH/cost COST_TIMES=4 "$@" "$SCRIPTS/cost.js" "$cost_kind" >out 2>err
    echo "$(cat cost)" >>"$cost_name"
}

ratio() # FILE BASE: median and quartiles
{
    paste "$1" "$2" | awk '{ print $1 / $2 }' | sort -n | awk '{ v[NR] = $1 }
        END { printf "%.3f (%.3f-%.3f)\n", v[int((NR + 1) / 2)], v[int((NR + 3) / 4)],
            v[int((3 * NR + 1) / 4)] }'
}

for kind in friendly recursion; do
    rm -f plain on.ours on.theirs
    i=0
    while [ "$i" -lt "$rounds" ]; do
        cost plain $kind gjs-console
        cost on.ours $kind "$GJS" --profile-clock=wall --profile-output=x.cap
        cost on.theirs $kind gjs-console --profile=y.cap
        i=$((i + 1))
    done
    echo "CPU time at 1000 Hz, $kind: ours $(ratio on.ours plain), gjs's $(ratio on.theirs plain)"
    check "$kind: every run was measured" test "$(cat plain on.ours on.theirs | wc -l)" = \
        $((3 * rounds))
done

finish
