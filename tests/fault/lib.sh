# lib.sh - what the fault tests share; sourced, not run.
#
# SPDX-License-Identifier: MIT

SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$SRCDIR/tests/lib-chance.sh"
B=${B:-$SRCDIR/build}
TOOL=$B/bin/jsprof
SCRATCH=$(mktemp -d)
HOST=$SCRATCH/host
OUT=$SCRATCH/out
FAILED=0
MOUNTED=
trap '[ -z "$MOUNTED" ] || umount "$MOUNTED"; rm -rf "$SCRATCH"' EXIT
unset JSPROF JSPROF_HZ JSPROF_CLOCK
ulimit -c 0
"${CC:-gcc}" -O1 -pthread -I"$SRCDIR/include" -o "$HOST" "$SRCDIR/tests/fault/host.c" \
    "$B/lib/libjsprof.a" || exit 1

fail() # WHAT...
{
    echo "not so: $*"
    sed 's/^/  | /' "$OUT"
    FAILED=$((FAILED + 1))
}

# host ARGUMENT... - run it; whatever happens to the capture, it ends well.
host()
{
    timeout 60 "$HOST" "$@" >"$OUT" 2>&1
    rc=$?
    [ $rc = 0 ] || fail "the host ended with $rc: $*"
    [ "$(tail -n 1 "$OUT")" = done ] || fail "the host did not finish its work: $*"
}

said() # LINE
{
    grep -qxF -- "$1" "$OUT" || fail "no line \"$1\""
}

# Our reader takes the file, whatever became of its end.
readable() # FILE
{
    "$TOOL" info "$1" >"$OUT.info" 2>&1 ||
        { cp "$OUT.info" "$OUT"; fail "jsprof info refuses $1"; }
}

# samples FILE - how many there are
samples()
{
    "$TOOL" dump "$1" | grep -ci '\<sample\>'
}
