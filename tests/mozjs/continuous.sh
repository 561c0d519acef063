#!/bin/sh
# continuous.sh - a GJS program records itself as long as it runs, into a folder, with its labels:
# under our gjs-console, and the distribution's under jsprof-gjs.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
unset JSPROF_CONTROL JSPROF_CONTINUOUS JSPROF_SEGMENT JSPROF_KEEP JSPROF_KEEP_MIB
export JSPROF_HZ=200 JSPROF_SEGMENT=1s

cat >works.js <<'END'
function spin(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
function burn(ms) { for (const end = Date.now() + ms; Date.now() < end;) spin(100000); }
burn(900);
globalThis.jsprof?.label('route', '/login');
burn(900);
END

is_kept()
{
    set -- "$SCRATCH"/folder/*.cap
    [ $# = 1 ] && whole "$1" && info_has "$1" 'folded in segments of 1 s' || return 1
    "$JSPROF_TOOL" report --csv --limit 0 "$1" >report && "$JSPROF_TOOL" report --by label \
        --csv "$1" >labels
    cat report labels
    grep -q '^"burn (works[.]js:2' report && grep -q '^"route=/login"' labels &&
        grep -q '^"\[no label\]"' labels
}

keeps() # COMMAND...
{
    rm -rf folder
    JSPROF_CONTINUOUS=folder "$@" works.js >out 2>&1
    keeps_status=$?
    cat out
    [ $keeps_status = 0 ] && [ ! -s out ] && is_kept
}

check 'gjs-console' keeps "$GJS"
check "the distribution's" keeps "$B/bin/jsprof-gjs" gjs-console

finish
