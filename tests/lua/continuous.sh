#!/bin/sh
# continuous.sh - a Lua program records itself as long as it runs, into a folder: preloaded into a
# host, required by an interpreter, under jsprof-lua, and by the options of jsprof.start. Its labels
# are kept.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
unset JSPROF_CONTROL JSPROF_CONTINUOUS JSPROF_SEGMENT JSPROF_KEEP JSPROF_KEEP_MIB
export JSPROF_HZ=200 JSPROF_SEGMENT=1s
FOLDER=$SCRATCH/folder

{ burn_lua && cat; } >"$SCRATCH/works.lua" <<'END'
burn(0.6)
local jsprof = package.loaded.jsprof
if jsprof then jsprof.label("route", "/login") end
burn(0.6)
END

{ burn_lua && cat; } >"$SCRATCH/starts.lua" <<'END'
local jsprof = require "jsprof"
jsprof.start{ continuous = arg[1], hz = 200, segment = "1s", keep = "1h", keep_mib = 2 }
burn(0.6)
jsprof.label("route", "/login")
burn(0.6)
jsprof.stop()
END

# One file, whole, of folded samples: two of three of those asked for, and half with the label.
is_kept()
{
    set -- "$FOLDER"/*.cap
    [ $# = 1 ] && whole "$1" && info_has "$1" 'folded in segments of 1 s' || return 1
    "$JSPROF_TOOL" report --csv --limit 0 "$1" >"$SCRATCH/report" &&
        "$JSPROF_TOOL" report --by label --csv "$1" >"$SCRATCH/labels"
    cat "$SCRATCH/report" "$SCRATCH/labels"
    grep -q '^"burn (.*:1)"' "$SCRATCH/report" &&
        grep -q '^"route=/login"' "$SCRATCH/labels" && grep -q '^"\[no label\]"' "$SCRATCH/labels"
}

keeps() # COMMAND...
{
    rm -rf "$FOLDER"
    JSPROF_CONTINUOUS=$FOLDER "$@" >"$SCRATCH/out" 2>&1
    keeps_status=$?
    cat "$SCRATCH/out"
    [ $keeps_status = 0 ] && [ ! -s "$SCRATCH/out" ] && is_kept
}

starts()
{
    rm -rf "$FOLDER"
    stock "$SCRATCH/starts.lua" "$FOLDER" >"$SCRATCH/out" 2>&1 && is_kept && return
    cat "$SCRATCH/out"
    return 1
}

# A relative folder belongs to where the program was started; the host goes elsewhere.
keeps_here()
{
    rm -rf "$SCRATCH/folder"
    (cd "$SCRATCH" && JSPROF_CONTINUOUS=folder "$@") && is_kept
}

refused() # REGEX COMMAND...
{
    refused_why=$1
    shift
    "$@" "$SCRATCH/works.lua" >"$SCRATCH/out" 2>&1
    cat "$SCRATCH/out"
    grep -q -- "$refused_why" "$SCRATCH/out"
}

one()
{
    build_host plain_host.c || { fail 'a program'; return; }
    check 'a preloaded program, with a relative folder' keeps_here env \
        LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" "$SCRATCH/host" \
        "$SCRATCH/works.lua"
    check 'an interpreter that requires the module' keeps env LUA_INIT='require "jsprof"' \
        LD_PRELOAD="$ASAN_LIBRARY" "$LUA" "$SCRATCH/works.lua"
    check 'jsprof-lua' keeps env "$B/bin/jsprof-lua" --version "$VERSION" \
        -l jsprof "$SCRATCH/works.lua"
    check 'jsprof.start' starts
    check 'a wrong value is named by the module' refused 'JSPROF_KEEP=x: a time with a unit' \
        env JSPROF_KEEP=x JSPROF_CONTINUOUS="$FOLDER" LUA_INIT='require "jsprof"' \
        LD_PRELOAD="$ASAN_LIBRARY" "$LUA"
    check 'no second file' refused 'continuous: not together with path' \
        env JSPROF="$SCRATCH/x.cap" JSPROF_CONTINUOUS="$FOLDER" \
        "$B/bin/jsprof-lua" --version "$VERSION"
    check 'a folder that can not be made' refused 'no/such/folder' \
        env JSPROF_CONTINUOUS="$SCRATCH/no/such/folder" LUA_INIT='require "jsprof"' \
        LD_PRELOAD="$ASAN_LIBRARY" "$LUA"
}

each_version one
finish
