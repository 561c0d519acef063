-- tasks_luv.lua - a chain of what luv calls: a timer, a file's state, another thread's work, a
-- coroutine. Prints the name of each as it runs. Its argument is the number of rounds.
--
-- SPDX-License-Identifier: MIT
local uv = require "luv"
local left = tonumber(arg[1])
local steps = {}

local function waked(timer, co)
  print "waked"
  timer:close()
  coroutine.resume(co)
end
local function sleeper()
  print "sleeper"
  local timer, co = uv.new_timer(), coroutine.running()
  local function wake()
    waked(timer, co)
  end
  timer:start(1, 0, wake)
  coroutine.yield()
  print "sleeper"
  left = left - 1
  if left > 0 then uv.new_timer():start(0, 0, steps.tick) end
end
local function worked()
  print "worked"
  coroutine.wrap(sleeper)()
end
local function stated()
  print "stated"
  uv.new_work(function() return 1 end, worked):queue()
end
function steps.tick()
  print "tick"
  uv.fs_stat("/", stated)
end
local timer = uv.new_timer()
timer:start(1, 0, steps.tick)
uv.run()
