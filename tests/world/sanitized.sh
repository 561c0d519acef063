#!/bin/sh
# check/sanitized.sh - the address, undefined-behaviour and thread sanitizers report nothing where
# threads read each other's stacks, a process forks, or somebody records it from outside.
#
# `make check-world ROWS=sanitized` runs it. Only reports count, and that each program comes to its
# end: signals and looks are late at this speed, so what the cases ask for is judged in the
# plain build. `make asan` and `make tsan` ask for both, and run all tests, or TESTS.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
MOST=150 # seconds for one program

sources=$(for room in sigsafe base image capture calls tasks session session/alone control \
    public analyze; do
    echo "src/$room"/*.c
done)

# build KIND FLAGS NAME...: the tests of that name, with the sources that they need
build()
{
    kind=$1 flags=$2
    shift 2
    echo 'int main(void) { return 0; }' >"$tmp/main.c"
    $CC $flags -o "$tmp/main" "$tmp/main.c" 2>/dev/null && "$tmp/main" 2>/dev/null ||
        { echo "SKIP: needs $flags"; exit 77; }
    for name; do
        echo "$B/$kind/tests/${name}_test"
    done >"$tmp/$kind"
    # shellcheck disable=SC2046
    make -s -j2 B="$B/$kind" CC="$CC" SAN="$flags -fno-omit-frame-pointer" MOZJS=no LUA=no \
        CFLAGS='-O1 -g1' INNER_SRC="$(echo $sources)" $(cat "$tmp/$kind") >"$tmp/log" 2>&1 ||
        { grep -v '^  [A-Z]* ' "$tmp/log"; echo "sanitized: $kind: not built"; exit 1; }
}

build asan '-fsanitize=address,undefined -fno-sanitize-recover=undefined' \
    signal/fork signal/looker_places signal/sleeper signal/control_asked unit/tasks
build tsan -fsanitize=thread signal/looker signal/sleeper signal/control_asked signal/stalls \
    unit/tasks

cat >"$tmp/run" <<'END'
out=$2/$(echo "$3" | tr / @)
options=allocator_may_return_null=1:log_path=$out.report
export ASAN_OPTIONS=detect_stack_use_after_return=0:$options TSAN_OPTIONS=$options
export UBSAN_OPTIONS=print_stacktrace=1:log_path=$out.report
rc=0
timeout -k 5 "$1" "$3" >"$out" 2>&1 </dev/null || rc=$?
grep -q '^1\.\.[1-9]' "$out" && [ "$rc" -lt 124 ] ||
    echo "$3 did not end well: $rc" >>"$out.report.end"
END
cat "$tmp/asan" "$tmp/tsan" | xargs -n 1 -P 2 sh "$tmp/run" $MOST "$tmp"
for report in "$tmp"/*.report.*; do
    [ -f "$report" ] || exit 0
    echo "sanitized: ${report##*/}:"
    head -n 60 "$report"
done
exit 1
