-- tasks_cqueues.lua - coroutines of a loop of cqueues: one that makes another, one that the
-- program made itself, and one that fails. Prints how often each ran.
--
-- SPDX-License-Identifier: MIT
local cqueues = require "cqueues"
local runs, loop = {}, cqueues.new()
local function note(name)
  runs[name] = (runs[name] or 0) + 1
end
local function inner()
  note "inner"
  cqueues.sleep(0.001)
  note "inner"
end
local function outer()
  note "outer"
  loop:wrap(inner)
  cqueues.sleep(0.001)
  note "outer"
  cqueues.sleep(0.002)
  note "outer"
end
local function attached()
  note "attached"
  cqueues.sleep(0.001)
  note "attached"
end
local function bad()
  note "bad"
  error "bad"
end
loop:wrap(outer)
loop:attach(coroutine.create(attached))
assert(loop:loop())
for _ = 1, 2 do
  local failing = cqueues.new()
  failing:wrap(bad)
  assert(not failing:step())
end
for name, n in pairs(runs) do print(name, n) end
