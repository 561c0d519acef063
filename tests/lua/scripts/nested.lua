-- nested.lua - C calls short Lua functions without end, which call C that does the same.
--
-- SPDX-License-Identifier: MIT
local function inner(a, b) return a < b end

local function list(n)
  local t = {}
  for i = 1, n do t[i] = (i * 7919) % (n + 1) end
  return t
end

local function outer(a, b)
  table.sort(list(40), inner)
  return a < b
end

local start = os.clock()
repeat table.sort(list(50), outer) until os.clock() - start > 2
