-- tails.lua - a function that is reached by tail calls, under a label.
--
-- SPDX-License-Identifier: MIT
local jsprof = require "jsprof"

local x = 0
local function last(n)
  for i = 1, n do x = x + i % 7 + i % 3 + i % 5 end
  for i = 1, n / 4 do x = x + i % 7 + i % 3 + i % 5 end
end

local function between(n) return last(n) end

local function burn(n) return between(n) end

local function first(n)
  local value = burn(n)
  return value
end

local labelled = jsprof.wrap(first, "a label")
jsprof.start{ output = arg[1], clock = "wall" }
local n = 1
for i = 1, jit and 20000 or 4000 do -- compiled, the second loop has some 8 % of the time
  n = (n * 1103 + 12345) % 5003 -- no cycle that the clock's tick could be in step with
  labelled(n + 500)
end
jsprof.stop()
