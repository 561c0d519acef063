#!/bin/sh
# traceback.sh - jsprof.traceback as xpcall's handler: Lua's functions where the error was raised,
# C functions outside of them, and equal stacks once.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

cat >"$SCRATCH/work.lua" <<'EOF'
local jsprof = require 'jsprof'
jsprof.start{ output = arg[1] }
local function inner() error('boom', 0) end
local function middle() table.sort({ 3, 2, 1 }, function() inner() end) end
for _ = 1, 3 do print(select(2, xpcall(middle, jsprof.traceback))) end
print(select(2, xpcall(function() local x return x.y end, jsprof.traceback)))
print(type(select(2, xpcall(function() error({}) end, jsprof.traceback))))
jsprof.stop()
print(select(2, xpcall(middle, jsprof.traceback)))
EOF

told()
{
    stock "$SCRATCH/work.lua" "$SCRATCH/cap" >"$SCRATCH/out" 2>&1 ||
        { cat "$SCRATCH/out"; return 1; }
    awk '/^stack 1:/ { on = 1 } /^stack 1, 2 times/ { exit } on' "$SCRATCH/out" >"$SCRATCH/first"
}

# The function that raised it, the C function that called that one, and the chunk, in this order.
in_order()
{
    cat "$SCRATCH/first"
    awk '/inner .*work.lua:3\):3$/ { inner = NR } /table\.sort|sort \(/ { sort = NR }
        /main chunk/ { chunk = NR } /^\t.*\(lib|\(lua|0x/ { native = NR }
        END { exit !(inner && inner < sort && sort < chunk && chunk < native) }' "$SCRATCH/first"
}

folded()
{
    cat "$SCRATCH/out"
    grep -qx 'stack 1, 3 times' "$SCRATCH/out" && grep -qx 'stack 2:' "$SCRATCH/out" &&
        grep -qx table "$SCRATCH/out" && grep -q '^stack traceback:' "$SCRATCH/out" &&
        [ "$(grep -c '^stack 1:' "$SCRATCH/out")" = 1 ]
}

all()
{
    check 'the program ends' told
    check 'C frames outside of Lua frames' in_order
    check 'equal stacks once' folded
}
each_version all
finish
