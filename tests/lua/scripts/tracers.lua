-- tracers.lua - programs that set hooks of their own, while we record in the mode of arg[2]:
-- a line coverage, a stepping debugger, a count limit, hooks that throw. Each must see what
-- it would see without us; prints "all as without" then.
--
-- SPDX-License-Identifier: MIT
local jsprof = require "jsprof"
local early_sethook = debug.sethook -- as a debugger that was loaded before
local older = coroutine.create(function() while true do coroutine.yield() end end)
coroutine.resume(older)
if arg[2] then jsprof.start{ output = arg[1], mode = arg[2], hz = 5000 } end

local function work(n)
  local x = 0
  for i = 1, n do
    x = x + i % 7
  end
  return x
end

-- Coverage: each line of work, as often as it ran.
local lines = {}
debug.sethook(function(event, line)
  local source = debug.getinfo(2, "S").short_src
  if source:find("tracers", 1, true) then lines[line] = (lines[line] or 0) + 1 end
end, "l")
work(100)
debug.sethook()
assert(lines[15] == 100, "coverage: " .. tostring(lines[15]))
assert(debug.gethook() == nil, "a hook is left")

-- A debugger: calls and returns, with the depth of the stack.
local depth, deepest, calls, returns = 0, 0, 0, 0
local function nested(n) if n > 0 then return 1 + nested(n - 1) end return 0 end
debug.sethook(function(event)
  if event == "call" or event == "tail call" then
    depth, calls = depth + 1, calls + 1
  else
    depth, returns = depth - 1, returns + 1
  end
  if depth > deepest then deepest = depth end
end, "cr")
nested(10)
local hook, mask = debug.gethook()
debug.sethook()
assert(mask == "cr", "mask: " .. tostring(mask))
assert(deepest >= 10 and deepest <= 13, "deepest: " .. deepest)
assert(calls >= 12 and calls <= 14, "calls: " .. calls)

-- A limit: the hook ends a loop that would not end, again and again.
local limits = 0
if jit then jit.off() end -- what it compiled calls no hooks
for _ = 1, 5 do
  local ok, message = pcall(function()
    debug.sethook(function() error("enough") end, "", 1000)
    while true do end
  end)
  debug.sethook()
  assert(not ok and message:find("enough"), message)
  limits = limits + 1
end
assert(limits == 5)
if jit then jit.on() end
assert(not pcall(debug.sethook, 7, 8, 9, 10), "wrong arguments are refused")

-- Hooks that throw from a call and from a line.
for _, kind in ipairs{ "c", "l" } do
  local ok, message = pcall(function()
    debug.sethook(function() debug.sethook() error("thrown") end, kind)
    return work(3)
  end)
  assert(not ok and message:find("thrown"), tostring(message))
end

-- One of the main coroutine, while an older one without any is resumed.
local entered = 0
debug.sethook(function() entered = entered + 1 end, "c")
coroutine.resume(older)
assert(jit or debug.gethook(older) == nil, "a hook that nobody set")
entered = 0
for _ = 1, 10 do work(1) end
assert(entered >= 10, "after an older one: " .. entered)
debug.sethook()

-- One per coroutine (all in LuaJIT), set from outside.
local seen = 0
local co = coroutine.create(function() work(10) coroutine.yield() work(10) end)
debug.sethook(co, function() seen = seen + 1 end, "l")
coroutine.resume(co)
coroutine.resume(co)
debug.sethook(co)
debug.sethook()
assert(seen > 20, "in a coroutine: " .. seen)

-- Behind our back: nobody can see it coming, but it is told.
if arg[2] == "calls" then
  work(1)
  early_sethook(function() end, "", 1000000)
  work(1)
  local missed
  for _, row in ipairs(jsprof.calls()) do
    if row.name:find("calls missed", 1, true) then missed = row.calls end
  end
  assert(missed == 1, "missed: " .. tostring(missed))
  local before
  local function count(name)
    for _, row in ipairs(jsprof.calls()) do if row.name == name then return row.calls end end
  end
  before = count("work")
  work(1) -- ours is there again
  assert(count("work") == before + 1, "counting does not go on")
  early_sethook()
end
if arg[2] then
  local stats = jsprof.stop()
  if arg[2] == "calls" then
    assert(stats.hooks_overwritten == 2, tostring(stats.hooks_overwritten))
  end
end
print("all as without")
