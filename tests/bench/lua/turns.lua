-- turns.lua - one program again and again, in turns without and with a profiler that is
-- started and stopped around each, in one process and in alternating order; prints the CPU
-- time (all threads, user and system) of both, a pair of turns a line. What our samples
-- cost is asked more closely: pairs.lua.
--
--     lua turns.lua PROFILER ROUNDS SECONDS PROGRAM [ARG]
--
-- PROFILER is calls (jsprof's mode), hook (a plain count hook), jp (LuaJIT's). A
-- turn takes about so many SECONDS without it.
--
-- SPDX-License-Identifier: MIT
local profiler, rounds, seconds = arg[1], tonumber(arg[2]), tonumber(arg[3])
local program, argument = arg[4], arg[5]
local clock, show = os.clock, print

local jsprof = profiler == "calls" and require "jsprof"
local begin, stop = {}, {}
function begin.calls() jsprof.start{ output = os.getenv "CAP", mode = "calls" } end
function stop.calls() jsprof.stop() end
local seen = {}
function begin.hook()
  debug.sethook(function()
    local at = debug.getinfo(2, "Sl")
    local key = at.short_src .. ":" .. at.currentline
    seen[key] = (seen[key] or 0) + 1
  end, "", 1000)
end
function stop.hook() debug.sethook() end
function begin.jp() require "jit.p".start("f", "/dev/null") end
function stop.jp() require "jit.p".stop() end

local run = assert(loadfile(program))
arg = { [0] = program, argument }
print = function() end

-- How often in a turn.
local times = 0
local from = clock()
repeat
  run()
  times = times + 1
until clock() - from >= seconds

-- What a recording does once is no part of it: its first samples name functions, and what
-- it writes first, the program's libraries.
local function turn()
  local from = clock()
  repeat run() until clock() - from >= 0.06
  collectgarbage()
  local at = clock()
  for _ = 1, times do run() end
  return clock() - at
end

local function profiled()
  begin[profiler]()
  local spent = turn()
  stop[profiler]()
  return spent
end

for round = 1, rounds do
  local plain, spent
  if round % 2 == 1 then
    plain = turn()
    spent = profiled()
  else
    spent = profiled()
    plain = turn()
  end
  show(string.format("%.6f %.6f", plain, spent))
end
