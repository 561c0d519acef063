-- names_module.lua - a module that names.lua requires while it is recorded: what makes its
-- functions has returned when they are seen.
--
-- SPDX-License-Identifier: MIT
local M = {}

local function helper(n)
  local x = 0
  for i = 1, n do x = x + i % 7 end
  return x
end

function M.field(n)
  local x = helper(n)
  return x
end

function M:method(n)
  local x = helper(n)
  return x + self.zero
end

M.given = { function(n) local x = helper(n) return x end }
M.zero = 0

local function is_less(a, b)
  for _ = 1, 40 do helper(10) end
  return a < b
end

local function ended(n)
  for _ = 1, 5 do helper(n) end
  return n
end

local function sorted(n)
  local list = {}
  for i = 1, 50 do list[i] = i * 7 % 50 end
  table.sort(list, is_less)
  return ended(n)
end

function M.sorted(n)
  local x = sorted(n)
  return x
end

M.called = function(n)
  local x = helper(n)
  return x
end

local function make()
  return function(n) local x = helper(n) return x end
end
M.made, M.others = make(), { make() }

return M
