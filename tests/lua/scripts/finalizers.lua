-- finalizers.lua - __gc and, where there is one, __close, while we record in the mode of
-- arg[2]. Prints what ran how often.
--
-- SPDX-License-Identifier: MIT
local jsprof = require "jsprof"
jsprof.start{ output = arg[1], mode = arg[2], hz = 5000 }
local rounds, n_gc, n_close, n_error = tonumber(arg[3]) or 2e4, 0, 0, 0

local function burn(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local function finalize() n_gc = n_gc + 1 burn(rounds) end

-- 5.1 calls it for userdata only.
local function make()
  if newproxy then
    local proxy = newproxy(true)
    getmetatable(proxy).__gc = finalize
    return proxy
  end
  return setmetatable({}, { __gc = finalize })
end
local function produce() for _ = 1, 100 do make() end collectgarbage() end
produce()

if _VERSION == "Lua 5.4" then
  local load = load
  local scope = load([[
    local burn, note = ...
    local function close(value, failed) note(failed) burn(value.n) end
    local function scope(n, fails)
      local guard <close> = setmetatable({ n = n }, { __close = close })
      if fails then error("in the scope") end
      return burn(10)
    end
    local function waits(n)
      local guard <close> = setmetatable({ n = n }, { __close = close })
      coroutine.yield()
    end
    return scope, waits]], "=scopes")
  local scoped, waits = scope(burn, function(failed)
    n_close = n_close + 1
    if failed then n_error = n_error + 1 end
  end)
  for _ = 1, 50 do scoped(rounds) end
  for _ = 1, 50 do assert(not pcall(scoped, rounds, true)) end
  for _ = 1, 50 do -- closed from outside, while it waits
    local co = coroutine.create(waits)
    coroutine.resume(co, rounds)
    assert(coroutine.close(co))
  end
end

local counted = {}
if arg[2] ~= "sample" then
  for _, row in ipairs(jsprof.calls()) do
    counted[row.name] = (counted[row.name] or 0) + row.calls
  end
end
jsprof.stop()
print("gc " .. n_gc, "close " .. n_close, "failed " .. n_error,
      "counted " .. (counted.close or counted.__close or 0))
