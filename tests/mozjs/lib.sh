# lib.sh - what the tests of gjs-console share; sourced, not run.
#
# SPDX-License-Identifier: MIT

SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$SRCDIR/tests/lib-capture.sh"
SCRIPTS=$SRCDIR/tests/mozjs/scripts
GJS=$B/bin/gjs-console

if [ ! -x "$GJS" ] || [ ! -x /usr/bin/gjs-console ]; then
    echo 'SKIP: needs libmozjs-102-dev libgjs-dev gjs'
    exit 77
fi

unset GJS_ENABLE_PROFILER GJS_TRACE_FD SYSPROF_TRACE_FD SYSPROF_CONTROL_FD GJS_PATH G_DEBUG \
    G_MESSAGES_DEBUG GJS_COVERAGE_PREFIXES GJS_COVERAGE_OUTPUT GJS_DISABLE_JIT

# Process ids and times differ from run to run, addresses from place to place.
normal() # FILE
{
    sed -E -e 's/\((gjs-console|process):[0-9]+\)/(\1:PID)/' \
        -e 's/[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]+/TIME/' -e 's/after [0-9.]+ ms/after TIME/' \
        -e '/^  --profile-(output|hz|clock|toggle|form|calls)=/d' "$1"
}

same_text() # FILE FILE
{
    normal "$1" >"$SCRATCH/same.1"
    normal "$2" >"$SCRATCH/same.2"
    diff "$SCRATCH/same.1" "$SCRATCH/same.2"
}

compact() # CAPTURE: whole, and its samples are packed
{
    whole "$1" && "$JSPROF_TOOL" dump "$1" | grep -q ' FILE  *jsprof/stacks'
}

cut() # CAPTURE: were frames counted that are not in it?
{
    info_has "$1" 'frames cut [1-9]'
}

sleeper() # CAPTURE: at least 30 of the 50 ticks of half a second; not those of 1000 Hz
{
    info_has "$1" '^([3-9][0-9]|[12][0-9]{2}) expirations'
}

all_ok() # FILE: TAP without a failure, as many lines as planned
{
    cat "$1"
    ! grep -q '^not ok' "$1" && [ "$(grep -c '^ok ' "$1")" = "$(sed -n 's/^1\.\.//p' "$1")" ]
}
