# lib.sh - what the tests of gjs-console share; sourced, not run.
#
# SPDX-License-Identifier: MIT

SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$SRCDIR/tests/lib-capture.sh"
SCRIPTS=$SRCDIR/tests/mozjs/scripts
GJS=$B/bin/gjs-console

if [ ! -x "$GJS" ] || [ ! -x /usr/bin/gjs-console ]; then
    echo 'SKIP: needs libmozjs-VERSION-dev libgjs-dev gjs'
    exit 77
fi
# JavaScript-C128.14.0, and so on: what the engine says of itself differs with its version.
ENGINE=$("$GJS" --jsversion | sed 's/^[^0-9]*//; s/[.].*//')

unset GJS_ENABLE_PROFILER GJS_TRACE_FD SYSPROF_TRACE_FD SYSPROF_CONTROL_FD GJS_PATH G_DEBUG \
    G_MESSAGES_DEBUG GJS_COVERAGE_PREFIXES GJS_COVERAGE_OUTPUT GJS_DISABLE_JIT

# Process ids and times differ from run to run, addresses from place to place.
normal() # FILE
{
    sed -E -e 's/\((gjs-console|process):[0-9]+\)/(\1:PID)/' \
        -e 's/[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]+/TIME/' -e 's/after [0-9.]+ ms/after TIME/' \
        -e '/^  --profile-(output|hz|clock|toggle|form|calls|threads|alloc|tasks|stalls)=/d' "$1"
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

column() # N: as this engine counts it, which begins at 0 until 115 and at 1 since 128
{
    if [ "$ENGINE" -lt 128 ]; then echo "$1"; else echo $(($1 + 1)); fi
}

engines() # the versions whose library was built, one or several
{
    for engines_lib in "$B"/lib/libjsprof-mozjs-*.a; do
        engines_lib=${engines_lib##*-}
        echo "${engines_lib%.a}"
    done
}

compile_host() # VERSION SOURCE PROGRAM: a host that embeds this SpiderMonkey
{
    # SpiderMonkey's roots link themselves into a list on purpose: gcc warns of that.
    # shellcheck disable=SC2046
    "${CXX:-g++}" -std=c++17 -g -O2 -fno-rtti -Wall -Wextra -Wno-dangling-pointer \
        ${WERROR:-} -I"$SRCDIR/include" -I"$SRCDIR/bindings/mozjs" -I"$SRCDIR/tests/mozjs" \
        $(pkg-config --cflags "mozjs-$1") "$2" "$B/lib/libjsprof-mozjs-$1.a" \
        "$B/lib/libjsprof.a" $(pkg-config --libs "mozjs-$1") -pthread -o "$3"
}

# Skip the test where a GTK 4 program can not have a display of its own.
need_gtk()
{
    command -v xvfb-run >/dev/null && gjs-console -c 'imports.gi.versions.Gtk = "4.0";
        imports.gi.Gtk' 2>/dev/null && return
    echo 'SKIP: needs xvfb xauth gir1.2-gtk-4.0 gjs'
    exit 77
}
