#!/bin/sh
# cqueues.sh - a program of cqueues: its threads are seen above its loop, each with the time
# that it takes.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib-real.sh"

natives="(I:$any|C:$any)*"

recorded()
{
    rm -f "$SCRATCH/cap"
    stock "$SCRIPTS/cqueues.lua" "$SCRATCH/cap" >"$SCRATCH/out" 2>&1 ||
        { cat "$SCRATCH/out"; return 1; }
    whole
}

as_they_say()
{
    share_near "$(cat "$SCRATCH/out")" "burn ${any}turns ${any}long " \
        "burn ${any}turns ${any}(long|short) "
}

TRIED=0
one()
{
    export LUA_CPATH="$MODULES/?.so;;"
    stock -e 'require "cqueues"' 2>/dev/null || return
    TRIED=$((TRIED + 1))
    check 'a program of cqueues' recorded
    loop="${natives}step ..C..$t${natives}([^$t]*cqueues.lua[^$t]*$t|.tail calls.$t)+main chunk "
    [ "$VERSION" = jit ] && loop="${any}(${any})*main chunk "
    busy=$(share 'burn ')
    nearly=$(echo "$busy" | awk '{ print $1 * 0.97 }')
    check 'its threads are seen above its loop' share_is "$nearly" 100 \
        "burn ${any}turns ${any}(short|long) ${any}$loop"
    check 'with their times' as_they_say
    check 'the C stacks are whole' c_stacks_are_whole
    check 'the top ten have names' top_ten_has_names
    check 'and the work is the first of them' grep -q '^"*burn (.*cqueues.lua:8)' "$SCRATCH/top"
}

each_version one
[ $TRIED -gt 0 ] || MISSING="$MISSING lua-cqueues"
finish
