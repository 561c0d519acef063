#!/bin/sh
# labels.sh - the labels that a Lua program sets, and those of a function that it calls with one,
# read back by the tool.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

recorded()
{
    rm -f "$SCRATCH/cap"
    stock "$SCRIPTS/labels.lua" "$SCRATCH/cap" >"$SCRATCH/out" 2>&1 ||
        { cat "$SCRATCH/out"; return 1; }
    "$JSPROF_TOOL" report --by label --csv "$SCRATCH/cap" >"$SCRATCH/report"
}

has() # LABELS
{
    cat "$SCRATCH/report"
    grep -qF -- "$1" "$SCRATCH/report"
}

# A child in which the session continues keeps the labels of the thread that forked.
{ burn_lua && cat; } >"$SCRATCH/forks.lua" <<'END'
local jsprof = require "jsprof"
jsprof.label("route", "/forked")
local child = fork() == 0
jsprof.label("who", child and "child" or "parent")
burn(0.3)
END

kept()
{
    rm -f "$SCRATCH"/forked*
    JSPROF=$SCRATCH/forked JSPROF_CHILDREN=1 \
        LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" "$SCRATCH/host" \
        "$SCRATCH/forks.lua" || return 1
    kept_tries=0
    until [ "$(echo "$SCRATCH"/forked.*)" != "$SCRATCH/forked.*" ] &&
        info_has "$(echo "$SCRATCH"/forked.*)" 'adds up, and the file holds them all'; do
        kept_tries=$((kept_tries + 1))
        [ $kept_tries -lt 300 ] || return 1
        sleep 0.1
    done
    for file in "$SCRATCH"/forked*; do
        "$JSPROF_TOOL" report --by label --csv "$file"
    done >"$SCRATCH/report"
    has '"route=/forked, who=child",' && has '"route=/forked, who=parent",'
}

one()
{
    check 'the program runs' recorded
    check 'the capture is whole' whole
    check 'a label of the program' has '"tenant=7",'
    check 'a label of a function' has 'route=/login, tenant=7'
    check 'a label of one that fails' has 'route=/bad, tenant=7'
    check 'no label in the end' has '[no label]'
    check 'no other' sh -c "cat '$SCRATCH/report'; [ \$(wc -l <'$SCRATCH/report') -eq 5 ]"
    build_host plain_host.c || { fail 'a program that forks'; return; }
    check 'a forked child keeps them' kept
}

each_version one
finish
