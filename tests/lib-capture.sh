# lib-capture.sh - what tests share that record a program and look into the capture; sourced,
# by the lib.sh of their folder. It makes SCRATCH; a capture that is not named is
# $SCRATCH/cap.
#
# SPDX-License-Identifier: MIT

SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$SRCDIR/tests/lib-chance.sh"
B=${B:-$SRCDIR/build}
case $B in
/*) ;;
*) B=$SRCDIR/$B ;;
esac
JSPROF_TOOL=$B/bin/jsprof

SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
FAILED=0
CASES=0
MISSING= # packages
UNDER=   # in front of what fails: which of several it was

# The environment of the test run must not steer the programs in the tests.
unset JSPROF JSPROF_HZ JSPROF_CLOCK
export LC_ALL=C.UTF-8
ulimit -c 0

fail() # WHAT...
{
    echo "not ok - ${UNDER:+$UNDER: }$*"
    FAILED=$((FAILED + 1))
}

check() # WHAT COMMAND...: the command must succeed
{
    CASES=$((CASES + 1))
    check_what=$1
    shift
    "$@" >"$SCRATCH/check.out" 2>&1 && return
    fail "$check_what"
    sed 's/^/    /' "$SCRATCH/check.out" | head -n 60
}

finish()
{
    echo "$CASES checks, $FAILED failed"
    [ "$FAILED" = 0 ] || exit 1
    if [ -n "$MISSING" ]; then
        echo "SKIP: needs$MISSING"
        exit 77
    fi
    [ "$CASES" -gt 0 ]
    exit $?
}

info_has() # [CAPTURE] REGEX
{
    [ $# = 2 ] || set -- "$SCRATCH/cap" "$1"
    "$JSPROF_TOOL" info "$1" >"$SCRATCH/info.out" 2>&1 || { cat "$SCRATCH/info.out"; return 1; }
    grep -Eq "$2" "$SCRATCH/info.out" || { cat "$SCRATCH/info.out"; return 1; }
}

# Is every expiration accounted for (if there were any), and did the session reach
# its end?
whole() # [CAPTURE]
{
    info_has "${1:-$SCRATCH/cap}" '(: adds up, and the file holds them all|^  samples +0,)' &&
        "$JSPROF_TOOL" dump "${1:-$SCRATCH/cap}" | grep -q 'session state=final'
}

one_line() # FILE REGEX: just one line, which matches
{
    cat "$1"
    [ "$(wc -l <"$1")" = 1 ] && grep -Eq -- "$2" "$1"
}

# Names of each sample's frames, leaf first, one sample to a line, tabs between. Before
# a native one comes C: or, if it is the engine's or its glue, I:. With a second argument
# that is not empty, its current line follows each; with a third, the weight comes first.
stacks() # [CAPTURE [LINES [WEIGHTS]]]
{
    "$JSPROF_TOOL" dump "${1:-$SCRATCH/cap}" | awk -v lines="${2:-}" -v weights="${3:-}" '
        / SAMPLE / {
            if (line != "") print line
            match($0, /weight [0-9]+/)
            line = weights ? substr($0, RSTART + 7, RLENGTH - 7) : ""
            on = 1
            next
        }
        on && /^    e[0-9a-f]+  [[]waiting for a processor[]]/ { next }
        on && /^    e[0-9a-f]+  / {
            sub(/^ +[0-9a-f]+  /, "")
            if (!lines) sub(/ :[0-9]+$/, "")
            line = line "\t" $0
            next
        }
        on && /^    0[0-9a-f]+  / {
            what = /  [(]interpreter[)]$/ ? "I:" : "C:"
            sub(/^ +[0-9a-f]+  /, "")
            sub(/  \/.*$/, "")
            line = line "\t" what $0
            next
        }
        { on = 0 }
        END { if (line != "") print line }'
}

# Of the samples whose stack, as one line from leaf to root, matches OF: the percent whose stack
# matches REGEX, by weight; how many samples of equal weight they are worth; and what percent
# the largest is. Samples of unequal weights w are worth (sum of w)^2 / (sum of w^2) equal ones.
weighed() # REGEX [OF]
{
    stacks '' lines weights | awk -F '\t' -v re="$1" -v of="${2:-.}" '
        { w = $1; rest = substr($0, length($1) + 1) "\t" }
        rest ~ of { all += w; squares += w * w; most = w > most ? w : most
                    if (rest ~ re) part += w }
        END { if (all) printf "%.3f %.1f %.3f\n", 100 * part / all, all * all / squares,
                              100 * most / all }'
}

# The share of REGEX among OF is TRUTH percent, but for chance, the largest sample, and 2 points.
share_near() # TRUTH REGEX [OF]
{
    share_near_truth=$1
    shift
    set -- $(weighed "$@") "$share_near_truth"
    [ $# = 4 ] || { echo 'no samples'; return 1; }
    near "$1" "$4" "$2" "$(awk -v m="$3" 'BEGIN { print m + 2 }')"
}

# Stall mode by request: $pid is a program that makes some turns of its loop long. Of each that took
# more than 20 ms it prints when it began and how long it took, in ms of CLOCK_MONOTONIC. A capture
# of the turns that take more than 30 ms has no shorter one, and all longer ones that the program
# printed between its first and its last; a turn contains what the program measured in it.
stalls_as_logged() # LOG AT-LEAST
{
    rm -f "$SCRATCH/cap"
    "$JSPROF_TOOL" record --quiet --clock wall --stalls 30ms --seconds 2 -o "$SCRATCH/cap" \
        "$pid" && whole && info_has 'only turns of a loop that took longer than 30 ms' &&
        "$JSPROF_TOOL" stalls --each --over 1ms --limit 0 --csv "$SCRATCH/cap" >"$SCRATCH/csv" ||
        return 1
    tr -d '"' <"$SCRATCH/csv" >"$SCRATCH/asked"
    grep -E '^[0-9.]+ [0-9.]+$' "$1" >"$SCRATCH/logged"
    # The capture's times begin at the one in its header.
    sed 1d "$SCRATCH/asked" | sort -n | awk -F '[ ,]' -v least="$2" \
        -v start="$(od -An -tu8 -j72 -N8 "$SCRATCH/cap")" '
        FILENAME != "-" { logged[++n] = $1; took[n] = $2; next }
        { from[++m] = (start + $1) / 1e6; to[m] = from[m] + $2 / 1e6
          if ($2 < 30e6) { print "a turn of only", $2 / 1e6, "ms"; bad = 1 } }
        END {
            for (i = 1; i <= n; i++) {
                if (logged[i] < from[1] || logged[i] + took[i] > to[m])
                    continue
                for (j = 1; j <= m; j++)
                    if (from[j] < logged[i] + 0.01 && to[j] > logged[i] + took[i] - 0.01)
                        break
                if (j <= m)
                    found++
                else if (took[i] > 30.01) {
                    print "no turn of", took[i], "ms at", logged[i]
                    bad = 1
                }
            }
            print m + 0, "turns,", found + 0, "of them printed"
            exit bad || found < least
        }' "$SCRATCH/logged" -
}
