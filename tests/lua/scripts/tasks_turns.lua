-- tasks_turns.lua - turns of a loop of luv: quick ones, and one whose two callbacks take 100 ms
-- each; and a timer that repeats. With an argument, the loop runs inside a coroutine. Prints how
-- late the timer was at most, in ms.
--
-- SPDX-License-Identifier: MIT
local uv = require "luv"
local function spin(seconds)
  local since = os.clock()
  repeat until os.clock() - since > seconds
end
local function first() spin(0.1) end
local function second() spin(0.1) end
local function quick() spin(0.001) end
local n, timer = 0, uv.new_timer()
local late, due = 0, uv.now() + 50
local function tick()
  local now = uv.hrtime() / 1e6
  late, due = math.max(late, now - due), uv.now() + 50
  n = n + 1
  if n == 3 then
    uv.new_timer():start(5, 0, first)
    uv.new_timer():start(5, 0, second)
  elseif n == 5 then
    timer:close()
  else
    uv.new_timer():start(10, 0, quick)
  end
end
timer:start(50, 50, tick)
if arg[1] then
  local function inside() uv.run() end
  coroutine.wrap(inside)()
else
  uv.run()
end
print("late " .. late)
