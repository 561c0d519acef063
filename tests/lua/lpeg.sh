#!/bin/sh
# lpeg.sh - a program of LPeg: its patterns are seen between their program and the functions that
# they call, each with the time that it takes.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib-real.sh"

cat >"$SCRATCH/match.lua" <<LUA
local lpeg, jsprof = require "lpeg", require "jsprof"
local turn = dofile("$SCRIPTS/turns.lua")
local text = ("some words and numbers 1234 "):rep(4000)
local word = lpeg.R("az")^1
local words = (lpeg.C(word) * #lpeg.P(1) + lpeg.P(1))^0
local share, in_words = nil, 0
local calls = lpeg.Cmt(lpeg.P(1), function() share = turn() return true end)
local function count(s)
  local start = os.clock()
  for _ = 1, 3 do lpeg.match(words * -1 / 0, s) end
  in_words = in_words + os.clock() - start
end
jsprof.start{ output = "$SCRATCH/cap" }
local since = os.clock()
for _ = 1, 40 do
  lpeg.match(calls, "a")
  count(text)
end
local all = os.clock() - since
jsprof.stop()
print("words " .. 100 * in_words / all)
print(share)
LUA

recorded()
{
    stock "$SCRATCH/match.lua" >"$SCRATCH/out" 2>&1 || { cat "$SCRATCH/out"; return 1; }
}

matches_as_it_says()
{
    share_near "$(sed -n 's/^words //p' "$SCRATCH/out")" "lpeg.match ..C..${t}count "
}

in_order()
{
    busy=$(share "work ${any}(long|short) ")
    nearly=$(awk -v b="$busy" 'BEGIN { print 0.97 * b }')
    share_is "$nearly" 100 \
        "work ${any}(long|short) ${any}turn ${any}(.*)lpeg.match ..C..$t(.*)main chunk "
}

TRIED=0
one()
{
    export LUA_CPATH="$MODULES/?.so;;"
    stock -e 'require "lpeg"' 2>/dev/null || return
    TRIED=$((TRIED + 1))
    check 'a program of LPeg' recorded
    check_real "$SCRATCH/out"
    check 'a pattern is between its function and the program' in_order
    check 'and takes the time that the program says' matches_as_it_says
}

each_version one
[ $TRIED -gt 0 ] || MISSING="$MISSING lua-lpeg"
finish
