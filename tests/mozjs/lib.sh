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
unset JSPROF JSPROF_HZ JSPROF_CLOCK GJS_ENABLE_PROFILER GJS_TRACE_FD GJS_PATH G_DEBUG \
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

info_value() # CAPTURE KEY: a number of the capture's last session line
{
    "$JSPROF_TOOL" dump "$1" 2>/dev/null | sed -n "s/.*session .*[ ]$2=\([^ ]*\).*/\1/p" |
        tail -n 1
}
