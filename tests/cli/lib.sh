# cli/lib.sh - for the tests of the tool: captures by name, and checks that say what
# they saw. Sourced; sets tmp, jsprof, bad.
#
# SPDX-License-Identifier: MIT
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
jsprof="$B/bin/jsprof"
bad=0
unset COLUMNS NO_COLOR
export LC_ALL=C.UTF-8
$CC -std=c11 -D_GNU_SOURCE -I"$SRCDIR/tests" -o "$tmp/captures" \
    "$SRCDIR"/tests/cli/captures*.c
for name in $("$tmp/captures"); do
    "$tmp/captures" "$name" >"$tmp/$name.cap"
done
cd "$tmp"

# run ARGUMENTS...: leaves $rc, and the files out and err.
run()
{
    rc=0
    "$jsprof" "$@" >out 2>err || rc=$?
    ran="jsprof $*"
}

wrong() # WHAT
{
    echo "$ran: $1"
    sed 's/^/  out: /' out
    sed 's/^/  err: /' err
    bad=1
}

is_rc() { [ "$rc" = "$1" ] || wrong "exit status $rc, not $1"; }

# The whole of standard error, as one line (or none).
is_err() { printf '%s' "${1:+$1
}" | cmp -s - err || wrong "standard error is not: $1"; }

# One line says that the recording has no end; others stay in err.
lacks_end()
{
    [ "$(grep -c ': the recording has no end: ' err)" = 1 ] ||
        wrong 'does not say once that the recording has no end'
    grep -v ': the recording has no end: ' err >rest || :
    mv rest err
}

# A fixed text that is somewhere in a line of the output, or in none.
has() { grep -qF -- "$1" out || wrong "does not say: $1"; }
hasnt() { ! grep -qF -- "$1" out || wrong "says: $1"; }

# Each word in its own column: spaces are squeezed before looking.
row() { tr -s ' ' <out | grep -qF -- "$1" || wrong "has no row: $1"; }

lines() { [ "$(wc -l <out)" -eq "$1" ] || wrong "$(wc -l <out) lines, not $1"; }
