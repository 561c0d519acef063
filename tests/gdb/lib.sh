# gdb/lib.sh - what the tests of the debugger share. Source it after `set -eu`.
#
# SPDX-License-Identifier: MIT
command -v gdb >/dev/null || { echo 'SKIP: needs gdb'; exit 77; }
gdb -nx -q -batch -ex 'python print(6 * 7)' 2>/dev/null | grep -q 42 ||
    { echo 'SKIP: needs gdb'; exit 77; } # built without Python
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
wrong() { echo "$0: $*"; bad=1; }
script=$SRCDIR/debugger/jsprof-gdb.py

# Run gdb without the user's settings. The program may not trace children of a traced shell.
gdb_run() # ARGUMENT...
{
    NO_COLOR=1 gdb -nx -q -batch -iex 'set auto-load no' -iex 'set debuginfod enabled off' \
        -ex 'set pagination off' -ex 'set confirm off' -ex 'set startup-with-shell off' \
        -ex "source $script" "$@" 2>&1 || true # its status is that of the last command
}

watch_build()
{
    $CC -shared -fPIC -O1 -g -I"$SRCDIR/include" -o "$tmp/watch.so" "$SRCDIR/tests/gdb/watch.c"
}

# Compare STOPS stacks of a program. At least 999 of 1,000 must be equal; of 20, all but two.
# Chance: where 1 of 1,000 differs, three of 20 do in 1 of 900,000 runs.
equal() # NAME PROGRAM ARGUMENT...
{
    name=$1
    shift
    STOPS=${STOPS:-$([ "${LONG:-}" = 1 ] && echo 1000 || echo 20)} timeout 600 \
        gdb -nx -q -batch -iex 'set auto-load no' -iex 'set debuginfod enabled off' \
        -ex 'set pagination off' -ex 'set confirm off' -ex 'set startup-with-shell off' \
        -ex "set environment LD_PRELOAD $tmp/watch.so" -ex 'set environment WATCH 1' \
        -ex "set environment WATCH_SEED ${SEED:-$$}" -ex "source $script" \
        -x "$SRCDIR/tests/gdb/equal.py" --args "$@" >"$tmp/equal" 2>&1 || true
    said=$(grep ' stacks equal' "$tmp/equal" || true)
    echo "$name: $said"
    sed -n '/^the debugger, and/,/ stacks equal/p' "$tmp/equal" | head -40
    echo "$said" | awk '{ may = $3 < 1000 ? 2 : $3 / 1000
            ok = $3 >= 20 && $1 >= $3 - may && $11 <= $3 / 20 }
        END { exit !ok }' ||
        { tail -20 "$tmp/equal"; wrong "$name: the stacks differ, or there are too few"; }
}
