-- callbacks_cost.lua - nanoseconds of an idle callback of luv, with marks and without: the
-- median of rounds that alternate.
--
-- SPDX-License-Identifier: MIT
local uv = require "luv"
local jsprof = require "jsprof"
local ROUNDS, CALLS = 15, 4000

local function round(has_marks)
  local idle, n, since = uv.new_idle(), 0, nil
  jsprof.start{ output = arg[1], loop = has_marks }
  idle:start(function()
    n = n + 1
    if n == 1 then
      since = uv.hrtime()
    elseif n == CALLS + 1 then
      since = uv.hrtime() - since
      idle:close()
    end
  end)
  uv.run()
  jsprof.stop()
  os.remove(arg[1])
  return since / CALLS
end

local with, without = {}, {}
for i = 1, ROUNDS do
  without[i] = round(false)
  with[i] = round(true)
end
table.sort(with)
table.sort(without)
local middle, low, high = (ROUNDS + 1) / 2, (ROUNDS + 1) / 4, (ROUNDS + 1) / 4 * 3
print(("%.0f ns with marks (quartiles %.0f, %.0f), %.0f without (%.0f, %.0f)"):format(
  with[middle], with[low], with[high], without[middle], without[low], without[high]))
