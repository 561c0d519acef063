#!/bin/sh
# gdb/lua.sh - Lua's stacks in gdb are those that the program itself takes, for 5.4 and LuaJIT;
# LONG=1: for each Lua.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SRCDIR/tests/gdb/lib.sh"
watch_build
some=
for v in ${LONG:+5.1 5.2 5.3 5.5} 5.4 jit; do
    [ -x "$B/bin/jsprof-lua$v" ] && command -v lua$v >/dev/null || continue
    some=1
    cat >"$tmp/work.lua" <<'EOF'
local function leaf(n)
    local sum = 0
    for i = 1, n do sum = sum + i % 7 end
    return sum
end
local function deep(n, f)
    if n == 0 then return (f()) end
    return deep(n - 1, f) + 1
end
local function sorted()
    local t = {}
    for i = 1, 60 do t[i] = (i * 37) % 61 end
    table.sort(t, function(a, b) return a < b end)
    return leaf(200)
end
local function inside()
    local co = coroutine.wrap(function() coroutine.yield(deep(5, sorted)) end)
    return co() + #string.gsub("abc", "%w", function(c) return leaf(30) .. c end)
end
local t = os.clock()
while os.clock() - t < 300 do
    deep(8, sorted)
    deep(3, inside)
    pcall(deep, 4, function() leaf(100) error("x") end)
end
EOF
    WALKED=1 equal "Lua $v" "$B/bin/jsprof-lua$v" --profile-output="$tmp/a.cap" "$tmp/work.lua"
done
[ -n "$some" ] || { echo 'SKIP: needs lua5.4'; exit 77; }
exit $bad
