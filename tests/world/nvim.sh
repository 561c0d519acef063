#!/bin/sh
# nvim.sh - neovim, as it is: a script that it runs is recorded by the preloaded module.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lua/lib-real.sh"
needs jit neovim /usr/bin/nvim

cat >"$SCRATCH/script.lua" <<LUA
local turn, share = dofile("$SCRIPTS/turns.lua")
for _ = 1, 40 do share = turn() end
io.stdout:write(share, "\n")
LUA

recorded()
{
    HOME=$SCRATCH preloaded nvim --headless -u NONE -c "luafile $SCRATCH/script.lua" -c 'qa!' \
        >"$SCRATCH/out" 2>&1
    cat "$SCRATCH/out"
}

check 'nvim runs' recorded
check_real "$SCRATCH/out"
finish
