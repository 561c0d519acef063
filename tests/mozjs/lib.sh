# lib.sh - what the tests of gjs-console share; sourced, not run.
#
# SPDX-License-Identifier: MIT

SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$SRCDIR/build}
SCRIPTS=$SRCDIR/tests/mozjs/scripts
GJS=$B/bin/gjs-console
JSPROF_TOOL=$B/bin/jsprof

if [ ! -x "$GJS" ] || [ ! -x /usr/bin/gjs-console ]; then
    echo 'SKIP: needs libmozjs-102-dev libgjs-dev gjs'
    exit 77
fi

SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
FAILED=0
CASES=0

# The environment of whoever runs the tests must not steer the programs in them.
unset JSPROF JSPROF_HZ JSPROF_CLOCK GJS_ENABLE_PROFILER GJS_TRACE_FD SYSPROF_TRACE_FD \
    SYSPROF_CONTROL_FD GJS_PATH G_DEBUG \
    G_MESSAGES_DEBUG GJS_COVERAGE_PREFIXES GJS_COVERAGE_OUTPUT GJS_DISABLE_JIT
export LC_ALL=C.UTF-8
ulimit -c 0

fail() # WHAT...
{
    echo "not ok - $*"
    FAILED=$((FAILED + 1))
}

check() # WHAT COMMAND...: the command must succeed
{
    CASES=$((CASES + 1))
    check_what=$1
    shift
    "$@" >"$SCRATCH/check.out" 2>&1 && return
    fail "$check_what"
    sed 's/^/    /' "$SCRATCH/check.out"
}

finish()
{
    echo "$CASES checks, $FAILED failed"
    [ "$FAILED" = 0 ] && [ "$CASES" -gt 0 ]
    exit $?
}

# Process ids and times differ from run to run, addresses from place to place.
normal() # FILE
{
    sed -E -e 's/\((gjs-console|process):[0-9]+\)/(\1:PID)/' \
        -e 's/[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]+/TIME/' -e 's/after [0-9.]+ ms/after TIME/' \
        -e '/^  --profile-(output|hz|clock|toggle|calls)=/d' "$1"
}

same_text() # FILE FILE
{
    normal "$1" >"$SCRATCH/same.1"
    normal "$2" >"$SCRATCH/same.2"
    diff "$SCRATCH/same.1" "$SCRATCH/same.2"
}

info_has() # CAPTURE REGEX
{
    "$JSPROF_TOOL" info "$1" >"$SCRATCH/info.out" 2>&1 || { cat "$SCRATCH/info.out"; return 1; }
    grep -Eq "$2" "$SCRATCH/info.out" || { cat "$SCRATCH/info.out"; return 1; }
}

# Is every expiration accounted for (if there were any), and did the session reach
# its end?
whole() # CAPTURE
{
    info_has "$1" '(: adds up, and the file holds them all|^  samples +0,)' &&
        "$JSPROF_TOOL" dump "$1" | grep -q 'session state=final'
}

cut() # CAPTURE: were frames counted that are not in it?
{
    info_has "$1" 'frames cut [1-9]'
}

sleeper() # CAPTURE: at least 30 of the 50 ticks of half a second
{
    info_has "$1" '^(3[0-9]|4[0-9]|5[0-9]) expirations'
}

one_line() # FILE REGEX: just one line, which matches
{
    cat "$1"
    [ "$(wc -l <"$1")" = 1 ] && grep -Eq "$2" "$1"
}

all_ok() # FILE: TAP without a failure, as many lines as planned
{
    cat "$1"
    ! grep -q '^not ok' "$1" && [ "$(grep -c '^ok ' "$1")" = "$(sed -n 's/^1\.\.//p' "$1")" ]
}

# Names of each sample's frames, leaf first, one sample to a line, tabs between. Before
# a native one stands C: or, where it is the engine's or its glue, I:. Behind it, with
# any second argument, its current line.
stacks() # CAPTURE [LINES]
{
    "$JSPROF_TOOL" dump "$1" | awk -v lines="${2:-}" '
        / SAMPLE / { if (line != "") print line; line = ""; on = 1; next }
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
