-- marks.lua - marks, spans and counters, for jsprof list to tell again. Prints what memory
-- there was at least, in bytes.
--
-- SPDX-License-Identifier: MIT
local jsprof = require "jsprof"
jsprof.mark("before", "nothing is recorded") jsprof.counter("before", 1)
jsprof.start{ output = arg[1], clock = "wall" }
local since = jsprof.now()
local function wait(seconds)
  local begin, kept = jsprof.now(), {}
  while jsprof.now() - begin < seconds do kept[#kept + 1] = { #kept } end
  return kept
end
for i = 1, 3 do jsprof.mark("phase", "number " .. i) end
jsprof.counter("queue", 7)
jsprof.counter("queue", -2.5)
local kept = wait(0.6)
jsprof.mark("span", "a while", since)
local bytes = collectgarbage("count") * 1024
for _, wrong in ipairs{
  function() jsprof.mark() end, function() jsprof.mark("x", "y", -1) end,
  function() jsprof.counter("x") end, function() jsprof.counter({}, 1) end,
  function() jsprof.counter("memory", 1) end } do
  assert(not pcall(wrong))
end
jsprof.stop()
jsprof.mark("after", "nothing is recorded")
print(("%.0f"):format(bytes))
