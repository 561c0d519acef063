-- storm.lua - everything that changes a Lua state's stacks, over and over: calls that grow
-- and shrink them, coroutines made, wrapped, yielding across pcall, left suspended and
-- collected, errors, metamethods, finalizers, hooks, tail calls, callbacks from C, chunks
-- that are loaded and thrown away, compiled code that is flushed.
--
-- SPDX-License-Identifier: MIT

local rounds = tonumber(arg[1]) or 60
local depth = tonumber(arg[2]) or 300 -- the deeper, the dearer each sample
local unpack = table.unpack or unpack
local load = loadstring or load

local function deep(n)
  if n == 0 then return 0 end
  return 1 + deep(n - 1)
end

local function wide(...)
  return select("#", ...)
end

local function tail(n)
  if n == 0 then return 0 end
  return tail(n - 1)
end

-- Lua 5.1 does not yield across pcall.
local guard = pcall
if _VERSION == "Lua 5.1" and not jit then
  guard = function(f) return true, f() end
end

local function coroutines(n)
  local left = {}
  for i = 1, n do
    local co = coroutine.wrap(function(a)
      local ok, b = guard(function() return coroutine.yield(a + deep(20)) end)
      return ok and b
    end)
    assert(co(i) == i + 20)
    if i % 3 == 0 then co(i) else left[#left + 1] = co end
  end
  return #left
end

local function nested(n)
  if n == 0 then return deep(50) end
  return coroutine.wrap(nested)(n - 1)
end

local function errors(n)
  for i = 1, n do
    local ok, message = pcall(function()
      if i % 2 == 0 then deep(30) error({ i }) end
      error("at " .. i)
    end)
    assert(not ok and message)
    xpcall(function() local x = nil; return x.y end, function(e) return deep(10) .. e end)
  end
end

local object = setmetatable({}, {
  __index = function(_, key) return deep(5) + #key end,
  __call = function(_, ...) return wide(...) end,
  __lt = function() return deep(3) == 3 end,
  __concat = function() return "joined" end,
})

local finalized = 0
local function finalizers(n)
  for i = 1, n do
    local garbage = { i }
    if newproxy then
      garbage = newproxy(true)
      getmetatable(garbage).__gc = function() finalized = finalized + deep(4) end
    else
      setmetatable(garbage, { __gc = function() finalized = finalized + deep(4) end })
    end
  end
end

local function chunks(n)
  for i = 1, n do
    local f = load("local function inner(x) return x + " .. i .. " end return inner(1)",
      "=chunk " .. i % 7)
    assert(f() == i + 1)
  end
end

local function hooks(n)
  local seen = 0
  debug.sethook(function() seen = seen + 1 end, "", 100)
  deep(n)
  debug.sethook()
end

local function sorted(n)
  local list = {}
  for i = 1, n do list[i] = (i * 7919) % 1009 end
  table.sort(list, function(a, b) return a < b end)
  return (string.gsub(table.concat(list, " ", 1, 20), "%d+", function(d) return d + 0 end))
end

-- LuaJIT: what was compiled is thrown away, and compiled again.
local function traces(n)
  local sum = 0
  local function add(i) sum = sum + i % 3 end
  for i = 1, n do add(i) end
  jit.flush()
  return sum
end

for round = 1, rounds do
  deep(round % 5 == 0 and depth * 16 or depth) -- stacks grow, and shrink in the next collection
  wide(unpack({}, 1, 200 + round % 50))
  tail(depth)
  coroutines(30)
  nested(20)
  errors(20)
  assert(object.field and object(1, 2) == 2 and object .. 1 and object < object)
  finalizers(20)
  chunks(20)
  hooks(300)
  sorted(100)
  if jit then traces(300) end
  if round % 3 == 0 then collectgarbage() else collectgarbage("step", 50) end
end
print("done")
