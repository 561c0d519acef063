-- pairs.lua - what sampling costs a program, in short turns of one recording.
--
--     lua pairs.lua ROUNDS SECONDS SEED PROGRAM [ARG]
--
-- A round is a turn without samples, two with, one without, or the other way round, by a lot
-- that SEED begins: what gets slower or faster evenly falls out of the sums, and what comes
-- and goes with every other turn or fourth, as a heap that is given back does, out of the
-- median. Without: the thread does not hear the timer's signal, all else stays as it is. A
-- turn is so many runs of PROGRAM as take about so many SECONDS, behind one run of it and a
-- full collection, so that both sides begin alike.
--
-- Prints of each round the thread's CPU time of the two turns without samples and of the
-- two with, the earlier first; at the end "other", the CPU time of all other threads in a
-- time of sampling over the thread's own, and "around", that of starting and stopping.
--
-- SPDX-License-Identifier: MIT
local rounds, seconds = tonumber(arg[1]), tonumber(arg[2])
local program, argument = arg[4], arg[5]
math.randomseed(tonumber(arg[3]))
local show = print

require "clocks"
local cpu, hear = clocks.cpu, clocks.hear
local jsprof = require "jsprof"
local run = assert(loadfile(program))
arg = { [0] = program, argument }
print = function() end

local _, from = cpu()
jsprof.start{ output = os.getenv "CAP" }
local _, began = cpu()

-- What a recording does once is no part of it.
local function lasts(least)
  local times, from, from_all = 0, cpu()
  local now, now_all
  repeat
    run()
    times = times + 1
    now, now_all = cpu()
  until now - from >= least
  return (now - from) / times, ((now_all - from_all) - (now - from)) / (now - from)
end
lasts(0.3)
local one, other = lasts(2)
local times = math.max(1, math.floor(seconds / one + 0.5))

local function turn(sampled)
  hear(sampled)
  run()
  collectgarbage()
  local at = cpu()
  for _ = 1, times do run() end
  return cpu() - at
end

for _ = 1, rounds do
  local outer = math.random() < 0.5
  local inner = not outer
  local first = turn(outer)
  local second, third = turn(inner), turn(inner)
  local took = { [outer] = { first, turn(outer) }, [inner] = { second, third } }
  local plain, sampled = took[false], took[true]
  show(string.format("%.9f %.9f %.9f %.9f", plain[1], plain[2], sampled[1], sampled[2]))
end

hear(true)
local _, at = cpu()
jsprof.stop()
local _, done = cpu()
show("other", other)
show("around", began - from + done - at)
