# export/lib.sh - for the tests of exports: what tests/cli/lib.sh has, and `convert`.
# Sourced.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

convert() # FORMAT NAME OUTPUT: of the capture NAME.cap, without a complaint
{
    run convert --to "$1" -o "$3" "$2.cap"
    is_rc 0
    is_err ''
}
