-- labels.lua - labels of a Lua program, for jsprof report to tell again.
--
-- SPDX-License-Identifier: MIT
local jsprof = require "jsprof"
local function work()
  local sum, till = 0, os.clock() + 0.3 -- of CPU time: 75 ticks, of which one is a sample
  repeat
    for i = 1, 1e5 do sum = sum + i % 7 end
  until os.clock() > till
  return sum
end
assert(jsprof.label("before", "x", function(a, b) return a + b end, 1, 2) == 3)
jsprof.start{ output = arg[1] }
jsprof.label("tenant", 7)
work()
local one, two, three = jsprof.label("route", "/login", function(a, b)
  work()
  return a, b, nil
end, 1, 2)
assert(one == 1 and two == 2 and three == nil)
local ok, why = pcall(jsprof.label, "route", "/bad", function() work() error("no", 0) end)
assert(not ok and why == "no")
work() -- tenant alone
jsprof.label("tenant", nil)
work()
for _, wrong in ipairs{
  function() jsprof.label() end, function() jsprof.label("", 1) end,
  function() jsprof.label("x", {}) end, function() jsprof.label("x", 1, 2) end } do
  assert(not pcall(wrong))
end
jsprof.stop()
jsprof.label("after", "x")
