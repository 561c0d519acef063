-- shares.lua - four ways to run, in known shares of the time: Lua, C called from Lua, Lua
-- in a coroutine, Lua called from C. Each turn's truth is kept by the clock; prints name and
-- seconds.
--
-- SPDX-License-Identifier: MIT
local jsprof = require "jsprof"
local clock = os.clock
local function spin(n)
  local x = 0
  for i = 1, n do x = x + i % 7 end
  return x
end
local text = ("lua "):rep(2000)
local function in_lua(n) return spin(n * 100) end
local function in_c(n)
  for _ = 1, n do text:reverse():upper():rep(3) end
end
local worker = coroutine.wrap(function(n)
  while true do
    local x = spin(n * 100)
    n = coroutine.yield(x)
  end
end)
local function in_coroutine(n) return worker(n) end
local function from_c(n)
  string.gsub("a", "a", function() spin(n * 100) return "b" end)
end
local kinds = { in_lua, in_c, in_coroutine, from_c }
local names = { "in_lua", "in_c", "in_coroutine", "from_c" }
local weights, spent, seed = { 4, 2, 8, 1 }, { 0, 0, 0, 0 }, 7
jsprof.start{ output = os.getenv "CAP" }
local stop = clock() + (tonumber(arg[1]) or 1)
while clock() < stop do
  for i = 1, 4 do
    seed = (seed * 1103 + 12345) % 65536
    local from = clock()
    kinds[i](weights[i] * (20 + seed % 40) * (jit and 20 or 1))
    spent[i] = spent[i] + clock() - from
  end
end
jsprof.stop()
for i = 1, 4 do print(names[i], spent[i]) end
