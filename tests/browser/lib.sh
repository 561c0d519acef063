# browser/lib.sh - for the tests of the page: a browser and what drives it, or a skip.
# Sourced; sets tmp, jsprof, node; `drive SCRIPT ARGUMENTS...` runs one of them.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"
. "$SRCDIR/tests/node/lib.sh"
need playwright-core
CHROMIUM=$(command -v chromium) || { echo 'SKIP: needs chromium'; exit 77; }
export CHROMIUM HOME="$tmp"
unset DISPLAY WAYLAND_DISPLAY

drive() # SCRIPT ARGUMENTS...
{
    script=$1
    shift
    "$node" "$SRCDIR/tests/browser/$script" "$@" || bad=1
}
