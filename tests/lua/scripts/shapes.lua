-- shapes.lua - calls of several shapes that LuaJIT compiles into one loop: nested, with variable
-- arguments, by metamethods, protected. arg[1]: seconds of CPU time; arg[2]: without the compiler.
--
-- SPDX-License-Identifier: MIT
if arg[2] then jit.off() end
local seconds = tonumber(arg[1])
local out = { 0, 0, 0, 0 }
local function leaf(x, i)
  if x > 1e300 then x = 0 end
  out[i % 4 + 1] = x
  return x * 0.5 + 1
end
local function vararg(...)
  local a, b = ...
  if a > 1e300 then a = 0 end
  out[1] = a
  out[2] = leaf(a, b)
  return a * 0.25 + out[2]
end
local function deep(x, i)
  if x > 1e300 then x = 0 end
  out[3] = vararg(x, i)
  out[4] = x
  return out[3]
end
local object = setmetatable({}, {
  __index = function(_, k)
    if k > 1e300 then k = 0 end
    out[1] = k
    out[2] = k + 1
    return k
  end,
  __add = function(_, b)
    if b > 1e300 then b = 0 end
    out[1] = b
    out[3] = b + 2
    return b
  end,
})
local function meta(_, i)
  local y = object[i] + 1
  if y > 1e300 then y = 0 end
  out[1] = y
  return object + y
end
local function protected(x, i)
  local _, v = pcall(leaf, x, i)
  if v > 1e300 then v = 0 end
  out[1] = v
  return v
end
local function loop()
  local x = 1
  for i = 1, 100000 do
    x = deep(x, i)
    out[2] = meta(x, i)
    x = protected(x, i)
  end
  return x
end
repeat loop() until os.clock() > seconds
