-- names.lua - functions that are seen for the first time when who made them is gone.
--
-- SPDX-License-Identifier: MIT
local jsprof = require "jsprof"
jsprof.start{ output = arg[1], clock = "wall", mode = arg[3] }
package.path = arg[2] .. "/?.lua;" .. package.path
local M = require "names_module"

local function through(parameter, n)
  local x = parameter(n)
  return x
end

local function seconds(n, run)
  local start = os.clock()
  repeat run() until os.clock() - start > n
end

seconds(0.12, function() local x = M.field(20000) return x end)
seconds(0.12, function() local x = M:method(20000) return x end)
seconds(0.12, function() local x = M.sorted(20000) return x end)
seconds(0.12, function() local x = through(M.given[1], 20000) return x end)
seconds(0.12, function() pcall(M.called, 20000) end)
seconds(0.12, function() local x = through(M.others[1], 20000) return x end)

local is_there, lpeg = pcall(require, "lpeg")
if is_there then
  local text, pattern = ("a"):rep(5000), (lpeg.P(1) - "b") ^ 0
  seconds(0.12, function() pcall(lpeg.match, pattern, text) end)
  seconds(0.12, function() local x = lpeg.match(pattern, text) return x end)
end
jsprof.stop()
print(is_there and "lpeg")
