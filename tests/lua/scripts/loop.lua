-- loop.lua - tasks for an event loop in C: see loop_host.c.
--
-- SPDX-License-Identifier: MIT
local function burn(seconds)
  local x, start = 0, clock()
  repeat
    for i = 1, 20000 do x = x + i % 7 end
  until clock() - start > seconds
  return x
end

local function turns(n, seconds)
  for _ = 1, n do
    burn(seconds)
    coroutine.yield()
  end
end

local function short() turns(30, 0.004) end
local function long() turns(30, 0.012) end
tasks = { short, long }

-- A task whose coroutine runs the loop once more.
local function inner() turns(18, 0.012) end
local function runs_loop() loop({ inner }) end
local function outer()
  local resume = coroutine.wrap(runs_loop)
  resume()
end

function main()
  loop({ short, long, outer })
end
