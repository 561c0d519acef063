#!/bin/sh
# check/kinds.sh - each kind of tests keeps its promise, as docs/testing.md has it. What is part of
# `make check` does not sleep, no test is tried again, and each script of the world has a row.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
bad=0
refuse() # WHAT, lines on stdin
{
    grep . | sed "s|^|kinds: $1: |" | grep . && bad=1 || true
}

# The long form of callgrind.sh waits for a window.
refuse 'a test of make check sleeps' <<END
$(grep -nE '(^|[;&|({ ])sleep [0-9.]' tests/cli/*.sh tests/export/*.sh tests/read/*.sh \
    tests/check/[!kr]*.sh | grep -v callgrind.sh || true)
$(grep -nE '\b(clock_)?(nano|u)?sleep\(' tests/unit/*.[ch] tests/sim/*.[ch] || true)
END
# The one about a clock decides by bounds that hold however late its thread is.
refuse 'a test of make check reads a clock' <<END
$(grep -nE '\b(clock_gettime|clock|time|gettimeofday)\(|jsp_now_ns\(|host_(ns|burn)' \
    tests/unit/*.[ch] tests/sim/*.[ch] | grep -v calls_clock_test || true)
END
refuse 'a test of make check needs a browser or a daemon' <<END
$(grep -nE 'CHROMIUM|FIREFOX|playwright-core|profiler-cli|browser/lib' tests/cli/*.sh \
    tests/export/*.sh tests/read/*.sh tests/check/[!k]*.sh || true)
END
refuse 'a test is tried until it passes' <<END
$(grep -snwE 'thrice|ALONE' tests/run.sh tests/*/*.sh Makefile .ci/* |
    grep -v '^tests/check/kinds.sh' || true)
END
for script in tests/world/*.sh tests/pkg/*.sh; do
    grep -qw "$script" tests/world/rows || { echo "kinds: $script is in no row"; bad=1; }
done
for script in $(grep -o 'tests/[a-z]*/[a-zA-Z_0-9]*[.]sh' tests/world/rows); do
    [ -e "$script" ] || { echo "kinds: a row runs $script, which is not there"; bad=1; }
done
exit $bad
