#!/bin/sh
# shares.sh - each kind of work has the share of a profile that the program itself
# measures, compilers on: a hot loop, small calls, recursion, sort with a callback, regular
# expressions, object churn, generators, async functions, GObject calls, WebAssembly; and
# none of it is lost in collections. SHARES_MS and SHARES_OUT are for the bench.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
ms=${SHARES_MS:-${LONG:+20000}}
ms=${ms:-3000}
: >table

# Parts by the profile: the outermost frame of a part counts. What an async function goes
# on with after an await has no caller, so stacks without a part are the async one's.
found() # CAPTURE PARTS...: lines "part nanoseconds"
{
    "$JSPROF_TOOL" convert --to folded --vm "$1" | PARTS="$*" awk '
        BEGIN { n = split(ENVIRON["PARTS"], part, " ") }
        {
            time = $NF
            sub(/ [0-9]+$/, "")
            frames = split($0, frame, ";")
            for (f = 1; f <= frames; f++)
                for (i = 2; i <= n; i++)
                    if (index(frame[f], part[i] " (") == 1 && frame[f] ~ /parts[.]js/) {
                        sum[part[i]] += time
                        next
                    }
            sum["asynchronous"] += time
        }
        END { for (i = 2; i <= n; i++) print part[i], sum[part[i]] + 0 }'
}

# Samples count equally here, because on a busy machine a late one has the weight of all the
# time in which others had the processor.
worth() # CAPTURE
{
    "$JSPROF_TOOL" dump "$1" | awk '
        / SAMPLE / { match($0, /weight [0-9]+/); w = substr($0, RSTART + 7, RLENGTH - 7)
            sum += w; squares += w * w }
        END { printf "%.0f\n", squares ? sum * sum / squares : 0 }'
}

# Errors in points beside what chance makes of so many samples: less than 4.42 standard errors in
# all but one of 100,000 cases; and what the steps between the parts may cost.
compare() # NAME WHAT-ELSE-IS-ALLOWED PARTS...
{
    compare_name=$1
    compare_more=$2
    shift 2
    BURN_MS=$ms SHARES=$SCRATCH/shares "$GJS" --profile-clock=wall --profile-output=parts.cap \
        "$SCRIPTS/parts.js" "$@" >out 2>err
    check "$compare_name: status, messages" test $? = 0 -a ! -s err
    check "$compare_name: the capture is whole" whole parts.cap
    found parts.cap "$@" >found
    n=$(worth parts.cap)
    awk -v n="$n" -v more="$compare_more" -v name="$compare_name" '
        NR == FNR { truth[$1] = $2; next }
        { is[$1] = $2; all += $2 }
        END {
            for (p in truth) {
                t = truth[p]
                error = 100 * (is[p] / all - t)
                chance = 442 * sqrt(t * (1 - t) / n)
                bad = error > chance + more || -error > chance + more
                printf "%s %s %.2f %.2f %.2f %.2f %s\n", name, p, 100 * t,
                    100 * is[p] / all, error, chance, bad ? "NO" : "yes"
            }
        }' shares found >compared
    cat compared >>table
    check "$compare_name: every share" sh -c 'cat compared; ! grep -q NO compared'
    check "$compare_name: there are some" test "$(wc -l <compared)" -ge 2
}

compare all 0.7 ion calls recursion sort regexp churn generators asynchronous listing wasm
compare collecting 1 churn collections ion
echo "part           program  profile   error   chance (points)"
awk '{ printf "%-10s %-12s %6.2f %8.2f %7.2f %9.2f\n", $1, $2, $3, $4, $5, $6 }' table
[ -z "${SHARES_OUT:-}" ] || cp table "$SHARES_OUT"

finish
