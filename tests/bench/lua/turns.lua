-- turns.lua - one program again and again, in turns without and with a profiler that is
-- started and stopped around each, in one process and in alternating order; prints the CPU
-- time (all threads, user and system) of both, a pair of turns a line. What our samples
-- cost is asked more closely: pairs.lua.
--
--     lua turns.lua PROFILER ROUNDS SECONDS PROGRAM [ARG]
--
-- PROFILER is calls (jsprof's mode), hook (a plain count hook), jp (LuaJIT's). The turns without
-- it are plain, but for some: those of "empty" are a hook on calls and returns that does
-- nothing, for "count" (only how often), "timed" (and how long), "edges" (and from where), and
-- "clock" (a hook that only reads the clock); "alloc" is samples with allocations beside
-- samples. A turn takes about so many SECONDS without it.
--
-- SPDX-License-Identifier: MIT
local profiler, rounds, seconds = arg[1], tonumber(arg[2]), tonumber(arg[3])
local program, argument = arg[4], arg[5]
local clock, show = os.clock, print

local what = { count = "count", timed = "count,time", edges = "count,time,edges" }
local is_ours = profiler == "calls" or profiler == "alloc" or what[profiler]
local jsprof = is_ours and require "jsprof"
local begin, stop, beside = {}, {}, { alloc = "samples", clock = "empty" }
function begin.calls() jsprof.start{ output = os.getenv "CAP", mode = "calls" } end
function stop.calls() jsprof.stop() end
for name, calls in pairs(what) do
  begin[name] = function()
    jsprof.start{ output = os.getenv "CAP", mode = "calls", calls = calls }
  end
  stop[name], beside[name] = stop.calls, "empty"
end
if beside[profiler] == "empty" then require "clocks" end
function begin.empty() clocks.hook("nothing") end
function begin.clock() clocks.hook("time") end
function stop.empty() clocks.hook() end
stop.clock = stop.empty
function begin.alloc() jsprof.start{ output = os.getenv "CAP", alloc = true } end
function begin.samples() jsprof.start{ output = os.getenv "CAP" } end
stop.alloc, stop.samples = stop.calls, stop.calls
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

local function under(name)
  if not name then return turn() end
  begin[name]()
  local spent = turn()
  stop[name]()
  return spent
end
beside = beside[profiler]

for round = 1, rounds do
  local plain, spent
  if round % 2 == 1 then
    plain = under(beside)
    spent = under(profiler)
  else
    spent = under(profiler)
    plain = under(beside)
  end
  show(string.format("%.6f %.6f", plain, spent))
end
