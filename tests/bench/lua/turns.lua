-- turns.lua - one program again and again, in turns without and with a profiler, in one
-- process; prints the CPU time of both, a pair a line.
--
--     lua turns.lua PROFILER ROUNDS PROGRAM [ARG]
--
-- PROFILER is sample, calls (jsprof's modes), hook (a plain count hook), jp (LuaJIT's).
--
-- SPDX-License-Identifier: MIT
local profiler, rounds, program = arg[1], tonumber(arg[2]), arg[3]
local argument = arg[4]
local clock, show = os.clock, print

local jsprof = (profiler == "sample" or profiler == "calls") and require "jsprof"
local begin, stop = {}, {}
function begin.sample() jsprof.start{ output = os.getenv "CAP" } end
function begin.calls() jsprof.start{ output = os.getenv "CAP", mode = "calls" } end
function stop.sample() jsprof.stop() end
stop.calls = stop.sample
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

local function turn()
  collectgarbage()
  local from = clock()
  run()
  return clock() - from
end

turn() -- warm
for _ = 1, rounds do
  local plain = turn()
  begin[profiler]()
  local profiled = turn()
  stop[profiler]()
  show(string.format("%.6f %.6f", plain, profiled))
end
