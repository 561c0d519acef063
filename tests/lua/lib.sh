# lib.sh - what the tests of the Lua binding share; sourced, not run.
#
# SPDX-License-Identifier: MIT

SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-build}
case $B in
/*) ;;
*) B=$SRCDIR/$B ;;
esac
SCRIPTS=$SRCDIR/tests/lua/scripts
JSPROF_TOOL=$B/bin/jsprof

SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
FAILED=0
CASES=0
MISSING=

# The environment of whoever runs the tests must not steer the programs in them.
unset JSPROF JSPROF_HZ JSPROF_CLOCK LUA_INIT LUA_PATH LUA_CPATH LUA_INIT_5_2 LUA_INIT_5_3 \
    LUA_INIT_5_4
export LC_ALL=C.UTF-8
ulimit -c 0

fail() # WHAT...
{
    echo "not ok - $VERSION: $*"
    FAILED=$((FAILED + 1))
}

check() # WHAT COMMAND...: the command must succeed
{
    CASES=$((CASES + 1))
    check_what=$1
    shift
    "$@" >"$SCRATCH/check.out" 2>&1 && return
    fail "$check_what"
    sed 's/^/    /' "$SCRATCH/check.out" | head -n 40
}

# Each Lua that the binding was built for runs what is given; a missing one is a skip.
each_version() # COMMAND...
{
    for VERSION in ${LUA_ONLY:-5.1 5.2 5.3 5.4 jit}; do
        package=lua$VERSION
        LUA=/usr/bin/lua$VERSION
        if [ ! -x "$B/bin/jsprof-lua$VERSION" ] || [ ! -x "$LUA" ]; then
            MISSING="$MISSING $package"
            continue
        fi
        MODULES=$B/lib/lua/$VERSION
        export LUA_CPATH="$MODULES/?.so"
        "$@"
    done
}

finish()
{
    echo "$CASES checks, $FAILED failed"
    [ "$FAILED" = 0 ] || exit 1
    if [ -n "$MISSING" ]; then
        echo "SKIP: needs$MISSING (with its -dev package)"
        exit 77
    fi
    [ "$CASES" -gt 0 ]
    exit $?
}

# The distribution's interpreter, with our module on its path; under the address
# sanitizer it needs that one's library first.
ASAN_LIBRARY=
if readelf -d "$B/lib/lua/5.4/jsprof.so" 2>/dev/null | grep -q libasan; then
    ASAN_LIBRARY=$(gcc -print-file-name=libasan.so)
    export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0
fi
stock() # ARGS...
{
    LD_PRELOAD=$ASAN_LIBRARY "$LUA" "$@"
}

# Run a script recorded; the capture is $SCRATCH/cap.
record() # ARGS OF jsprof-lua...
{
    rm -f "$SCRATCH/cap"
    "$B/bin/jsprof-lua" --version "$VERSION" --profile-output="$SCRATCH/cap" "$@"
}

info_has() # REGEX
{
    "$JSPROF_TOOL" info "$SCRATCH/cap" >"$SCRATCH/info.out" 2>&1 ||
        { cat "$SCRATCH/info.out"; return 1; }
    grep -Eq "$1" "$SCRATCH/info.out" || { cat "$SCRATCH/info.out"; return 1; }
}

# Is every expiration accounted for, and did the session reach its end?
whole()
{
    info_has '(: adds up, and the file holds them all|^  samples +0,)' &&
        "$JSPROF_TOOL" dump "$SCRATCH/cap" | grep -q 'session state=final'
}

# One sample to a line: weight, then names of the frames, leaf first, tabs between. C code
# has C: before it, the interpreter's own I:.
stacks()
{
    "$JSPROF_TOOL" dump "$SCRATCH/cap" | awk '
        / SAMPLE / {
            if (line != "") print line
            match($0, /weight [0-9]+/)
            line = substr($0, RSTART + 7, RLENGTH - 7)
            on = 1
            next
        }
        on && /^    e[0-9a-f]+  / { sub(/^ +[0-9a-f]+  /, ""); line = line "\t" $0; next }
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

# Percent of all samples whose stack, as one line from leaf to root, matches. Their
# weights are of a busy machine: a thread that was not let run weighs most where it
# comes back, in a system call.
share() # REGEX
{
    stacks | awk -F '\t' -v re="$1" '
        { n++; rest = substr($0, length($1) + 1) "\t" }
        rest ~ re { of++ }
        END { printf "%.1f\n", n ? 100 * of / n : 0 }'
}

share_is() # LOW HIGH REGEX
{
    found=$(share "$3")
    echo "$3: $found, wanted $1 to $2"
    awk -v s="$found" -v low="$1" -v high="$2" 'BEGIN { exit !(s >= low && s <= high) }' ||
        { stacks | cut -f 1-12 | sort | uniq -c | sort -rn | head -n 3; return 1; }
}

one_line() # FILE REGEX: just one line, which matches
{
    cat "$1"
    [ "$(wc -l <"$1")" = 1 ] && grep -Eq -- "$2" "$1"
}
