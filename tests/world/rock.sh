#!/bin/sh
# rock.sh - LuaRocks builds the module for its Lua and puts it where that finds it.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lua/lib.sh"
VERSION=rock
command -v luarocks >/dev/null || { echo 'SKIP: needs luarocks'; exit 77; }
unset LUA_CPATH

made()
{
    (cd "$SRCDIR" && B=$B luarocks --tree "$SCRATCH/tree" make \
        bindings/lua/jsprof-scm-1.rockspec)
}

found()
{
    found_lua=$(luarocks config variables.LUA 2>/dev/null || luarocks config lua_interpreter)
    eval "$(luarocks --tree "$SCRATCH/tree" path)"
    LD_PRELOAD=$ASAN_LIBRARY "${found_lua:-lua}" -e 'print(require("jsprof").version)'
}

check 'it is built and installed' made
check 'it is found' found
finish
