# lib-capture.sh - what tests share that record a program and look into the capture; sourced,
# by the lib.sh of their folder. It makes SCRATCH; a capture that is not named is
# $SCRATCH/cap.
#
# SPDX-License-Identifier: MIT

SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
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

# Stall mode by request: $pid is a program that makes some turns of its loop long. Of each that took
# more than 20 ms it prints when it began and how long it took, in ms of one clock. A capture of the
# turns that take more than 30 ms has all of those in its time, and nothing else.
stalls_as_logged() # LOG AT-LEAST
{
    for _ in 1 2 3 4 5 6 7 8 9 10; do # the program may have begun no turn yet
        rm -f "$SCRATCH/cap"
        "$JSPROF_TOOL" record --quiet --clock wall --stalls 30ms --seconds 2.5 -o "$SCRATCH/cap" \
            "$pid" 2>"$SCRATCH/asked.err" && break
        cat "$SCRATCH/asked.err"
        grep -q 'has reported no tasks and no turns' "$SCRATCH/asked.err" || return 1
        sleep 0.3
    done
    whole && info_has 'only turns of a loop that took longer than 30 ms' &&
        "$JSPROF_TOOL" stalls --each --limit 0 --csv "$SCRATCH/cap" >"$SCRATCH/csv" || return 1
    tr -d '"' <"$SCRATCH/csv" >"$SCRATCH/asked"
    grep -E '^[0-9.]+ [0-9.]+$' "$1" >"$SCRATCH/logged"
    sed 1d "$SCRATCH/asked" | sort -n |
        awk -F '[ ,]' -v least="$2" '
        FILENAME != "-" { logged[++n] = $1; took[n] = $2; next }
        { begin[++m] = $1 / 1e6; ms[m] = $2 / 1e6 }
        function differ(a, b) { return a - b > 15 || b - a > 15 }
        # Are those from line k on the ones of the capture?
        function fits(k,   j, i) {
            for (i = k; j < m && i <= n; i++)
                if (!differ(logged[i] - logged[k], begin[j + 1] - begin[1]) &&
                    !differ(took[i], ms[j + 1]))
                    j++
                else if (took[i] > 32)
                    return 0
            return j == m
        }
        END {
            for (k = 1; k <= n && !fits(k); k++)
                continue
            print m, "stalls, of", n, "turns that were long"
            for (j = 1; j <= m && k > n; j++)
                print "  capture", begin[j], ms[j]
            for (j = 1; j <= n && k > n; j++)
                print "  program", logged[j], took[j]
            exit !(m >= least && k <= n)
        }' "$SCRATCH/logged" -
}
