# export/lib.sh - for the tests of exports: what tests/cli/lib.sh has, the captures of
# kinds.c (every.cap, hostile.cap), `convert`, and figures to compare. Sourced.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"
$CC -std=c11 -D_GNU_SOURCE -I"$SRCDIR/tests" -o kinds "$SRCDIR/tests/export/kinds.c"
for name in every hostile; do
    ./kinds $name >$name.cap
done
! command -v go >/dev/null || { GOCACHE=$(go env GOCACHE) && export GOCACHE; } # which lies in HOME
export HOME="$tmp" PPROF_TMPDIR="$tmp" PROFILER_CLI_SESSION_DIR="$tmp/session"

convert() # FORMAT NAME OUTPUT: of the capture NAME.cap, without a complaint
{
    run convert --to "$1" -o "$3" "$2.cap"
    is_rc 0
    is_err ''
}

# Lines "figure name": places after names are cut, equal names added up, zeros dropped.
figures()
{
    sed 's/ (\/.*)$//' | awk '
        { n = $1; $1 = ""; sum[$0] += n }
        END { for (name in sum) if (sum[name]) printf "%.0f%s\n", sum[name], name }' |
        LC_ALL=C sort
}

same() # WANT GOT WHAT: figures that must be the same
{
    diff "$1" "$2" >out || { ran=$3; : >err; wrong 'differs from the report'; }
    [ -s "$1" ] || { ran=$3; : >out; wrong 'there is nothing to compare'; }
}

# What jsprof report says: self, then the samples of it.
reported() # NAME: leaves NAME.self and NAME.samples
{
    "$jsprof" report --csv --limit 0 "$1.cap" | sed 1d | tr -d '"' >"$1.csv"
    awk -F, '{ print $3, $1 }' "$1.csv" | figures >"$1.self"
    awk -F, '{ print $5, $1 }' "$1.csv" | figures >"$1.samples"
}
