-- aborts.lua - code that LuaJIT's compiler gives up, for several reasons. With JV=FILE,
-- luajit -jv writes the same events to that file.
--
-- SPDX-License-Identifier: MIT
if os.getenv "JV" then require("jit.v").start(os.getenv "JV") end

-- A closure in a loop is not compiled, so the loop is blacklisted in the end.
local function closures(n)
  local t
  for i = 1, n do t = function() return i end end
  return t
end

local odd
local function even(n) if n == 0 then return true end return (odd(n - 1)) end
function odd(n) if n == 0 then return false end return (even(n - 1)) end

local function inner(n)
  local x, i = 0, 0
  while i < n do
    i = i + 1
    for j = 1, i % 3 do x = x + j end
    for k in pairs{ i, i } do x = x + k end
  end
  return x
end

local function short(n)
  local x = 0
  for i = 1, n do
    local j = 0
    repeat j = j + 1 x = x + j until j > i % 4
  end
  return x
end

local function thrown(n)
  for i = 1, n do pcall(error, "x") pcall(function() error(i) end) end
end

closures(400000)
for _ = 1, 3000 do even(40) end
inner(20000)
short(20000)
thrown(3000)
for i = 1, 2000 do local t = { ("x"):rep(i % 3) } end
jit.flush()
