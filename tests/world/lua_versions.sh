#!/bin/sh
# lua_versions.sh - every test of the Lua binding that runs LuaJIT and Lua 5.4, on the other
# versions. Takes about 8 minutes.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lua/lib.sh"

others=$(printf '%s\n' $ALL_VERSIONS | grep -vxF -e 5.4 -e jit | tr '\n' ' ')
for script in $(grep -l '^each_version ' "$SRCDIR"/tests/lua/*.sh); do
    grep -q '^\(LUA_ONLY\|VERSIONS\)=' "$script" && continue # it says itself on which
    check "${script##*/}" env LUA_ONLY="$others" sh "$script"
done
finish
