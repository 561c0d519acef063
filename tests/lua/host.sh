#!/bin/sh
# host.sh - the example of a C program that embeds Lua: several states on several threads,
# coroutines that C resumes, in one capture.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

hosted() # THREADS
{
    rm -f "$SCRATCH/cap"
    "$B/bin/lua-host$VERSION" "$SCRATCH/cap" "$SCRIPTS/host.lua" "$1" && whole
}

threads_are() # N
{
    "$JSPROF_TOOL" info "$SCRATCH/cap" >"$SCRATCH/info.out" || return 1
    cat "$SCRATCH/info.out"
    [ "$(grep -c ' lua  *[1-9]' "$SCRATCH/info.out")" = "$1" ]
}

refused()
{
    "$B/bin/lua-host$VERSION" "$SCRATCH/cap" "$SCRATCH/none.lua" 2>"$SCRATCH/err"
    [ $? = 1 ] && one_line "$SCRATCH/err" 'cannot open .*none.lua'
}

one()
{
    check 'one thread' hosted 1
    check 'a coroutine that C resumed is seen' share_is 80 100 \
        "burn .*main chunk .[^$t]*host.lua.*C:host_thread"
    check 'one that it resumed stands above it' share_is 5 95 \
        "burn ${any}worker ${any}(I:$any)*coroutine.wrap resume ${any}main chunk .[^$t]*host.lua"
    check 'three states on three threads' hosted 3
    check 'each has its samples' threads_are 3
    check 'a script that is not there' refused
}

each_version one
finish
