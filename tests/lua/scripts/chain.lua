-- chain.lua - one long chain of callers, through everything that can call in Lua.
--
-- SPDX-License-Identifier: MIT

local rounds = tonumber(arg[1]) or 800


local function burn(text)
  local x = 0
  for i = 1, 20000 do x = x + i % 7 end
  return text
end

local function matched(text)
  local kept = burn(text)
  return kept
end

local function body()
  while true do
    local done = string.gsub("a", "%w", matched)
    coroutine.yield(done)
  end
end

local inner = coroutine.wrap(body)

local function middle()
  local value = inner()
  return value
end

local function outer()
  local ok, value = pcall(middle)
  return ok, value
end

local co = coroutine.create(function()
  while true do
    local ok, value = outer()
    coroutine.yield(ok, value)
  end
end)

local object = setmetatable({}, { __index = function(_, key)
  local ok, value = coroutine.resume(co)
  assert(ok, value)
  return key
end })

local function run()
  local value = object.anything
  return value
end

for _ = 1, rounds do run() end
