-- callbacks_cqueues.lua - two threads that a loop of cqueues resumes. Prints how often each ran
-- and the nanoseconds that this took, by the script's own clock.
--
-- SPDX-License-Identifier: MIT
local cqueues = require "cqueues"
local jsprof = require "jsprof"

local function spin(seconds)
  local since = jsprof.now()
  repeat until jsprof.now() - since > seconds
  return jsprof.now() - since
end

local calls, spent = { first = 1, second = 1 }, { first = 0, second = 0 }
local function turns(name, n, seconds)
  for _ = 1, n do
    spent[name] = spent[name] + spin(seconds)
    cqueues.sleep(0.003)
    calls[name] = calls[name] + 1
  end
end
local function first() turns("first", 30, 0.001) end
local function second() turns("second", 10, 0.002) end

local loop = cqueues.new()
jsprof.start{ output = arg[1], loop = true }
loop:wrap(first)
loop:wrap(second)
local since = jsprof.now()
assert(loop:loop())
local all = jsprof.now() - since
jsprof.stop()
print(("first %d %.0f"):format(calls.first, 1e9 * spent.first))
print(("second %d %.0f"):format(calls.second, 1e9 * spent.second))
print(("all 1 %.0f"):format(1e9 * all))
