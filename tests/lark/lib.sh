# lib.sh - what the tests of the example language share; sourced, not run.
#
# SPDX-License-Identifier: MIT

SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$SRCDIR/tests/lib-capture.sh"
LARK=${LARK:-$B/bin/lark}
PROGRAMS=$SRCDIR/examples/lark/programs
DATA=$SRCDIR/tests/lark/data

# The programs and what they are run with, one a line.
runs()
{
    cat <<END
fib 20
nbody 1000
mandelbrot 60
quicksort 2000
words $DATA/page.md
markdown $DATA/page.md
END
}

same_output() # EXPECTED OPTION... SCRIPT ARGUMENT...
{
    same_expected=$1
    shift
    "$LARK" "$@" >"$SCRATCH/out" 2>&1 || { cat "$SCRATCH/out"; return 1; }
    diff "$same_expected" "$SCRATCH/out"
}

# Exit status, and the first line on stderr: a pattern of sh.
says() # STATUS PATTERN COMMAND...
{
    says_status=$1
    says_pattern=$2
    shift 2
    "$@" >"$SCRATCH/says.out" 2>"$SCRATCH/says.err"
    says_got=$?
    says_line=$(head -n 1 "$SCRATCH/says.err")
    # shellcheck disable=SC2254
    case $says_got:$says_line in
    $says_status:$says_pattern) return 0 ;;
    esac
    echo "status $says_got, said: $says_line"
    return 1
}
