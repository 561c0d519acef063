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

return M
