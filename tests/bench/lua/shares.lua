-- shares.lua - four ways to run, in shares that a clock keeps: Lua, C called from Lua, Lua in
-- a coroutine, Lua called from C; again and again, each time recorded by a profiler.
--
--     lua shares.lua PROFILER RUNS SECONDS
--
-- PROFILER is wall or cpu (jsprof's clocks, captures into $CAP.1, $CAP.2, ...), hook (a
-- plain count hook) or jp (LuaJIT's own). Prints "line NAME FROM TO" of each kind's code,
-- "truth RUN NAME SECONDS", and of the latter two profilers "seen RUN NAME SAMPLES".
--
-- SPDX-License-Identifier: MIT
local profiler, runs, seconds = arg[1], tonumber(arg[2]), tonumber(arg[3])
local jsprof = require "jsprof"
local clock = profiler == "wall" and jsprof.now or os.clock
local names, weights = { "lua", "c", "coroutine", "callback" }, { 4, 2, 8, 1 }
local text, upper, reverse, gsub = ("lua "):rep(100), string.upper, string.reverse, string.gsub

-- No call of these is a tail call, which would take the caller off the stack. Each loop
-- stands in the function that is looked for.
local function in_lua(n)
  local x = 0
  for i = 1, n do x = x + i % 7 end
  return x
end

local function in_c(n)
  for _ = 1, n do
    local x = upper(reverse(text))
    if #x == 0 then return end
  end
end

local function in_coroutine(n)
  while true do
    local x = 0
    for i = 1, n do x = x + i % 7 end
    n = coroutine.yield(x)
  end
end

local now = 0
local function callback()
  local x = 0
  for i = 1, now do x = x + i % 7 end
  return "b"
end

local body = coroutine.wrap(in_coroutine)
local kinds = {
  in_lua,
  in_c,
  function(n)
    local x = body(n)
    return x
  end,
  function(n)
    now = n
    local x = gsub("a", "a", callback)
    return x
  end,
}
local codes = { in_lua, in_c, in_coroutine, callback }

-- How many rounds of each kind take as long as those of the others: a weight of 1 is about
-- a microsecond.
local units = {}
for i = 1, 4 do
  local n, spent = 1, 0
  for _ = 1, 200 do kinds[i](10) end
  while spent < 0.01 do
    n = n * 2
    local from = clock()
    kinds[i](n)
    spent = clock() - from
  end
  units[i] = n / spent / 1e6
end

local seed = 7
local function work(run)
  local spent, stop = { 0, 0, 0, 0 }, clock() + seconds
  while clock() < stop do
    for i = 1, 4 do
      seed = (seed * 1103 + 12345) % 65536
      local n = math.floor(units[i] * weights[i] * (20 + seed % 40))
      local from = clock()
      kinds[i](n)
      spent[i] = spent[i] + clock() - from
    end
  end
  for i = 1, 4 do print("truth", run, names[i], spent[i]) end
end

-- -- Profilers ------------------------------------------------------------------------

local from, to = {}, {}
for i = 1, 4 do
  local at = debug.getinfo(codes[i], "S")
  from[i], to[i] = at.linedefined, at.lastlinedefined
  print("line", names[i], from[i], to[i])
end

local function kind_of(line)
  for i = 1, 4 do
    if line >= from[i] and line <= to[i] then return i end
  end
end

local begin, stop, seen = {}, {}, {}
for _, c in ipairs{ "wall", "cpu" } do
  begin[c] = function(run)
    jsprof.start{ output = os.getenv "CAP" .. "." .. run, clock = c }
  end
  stop[c] = function() jsprof.stop() end
end

function begin.hook()
  seen = { 0, 0, 0, 0 }
  debug.sethook(function()
    local level, at = 2, debug.getinfo(2, "S")
    while at do
      local i = at.source == "@" .. arg[0] and kind_of(at.linedefined)
      if i then
        seen[i] = seen[i] + 1
        return
      end
      level = level + 1
      at = debug.getinfo(level, "S")
    end
  end, "", 1000)
end

local function tell(run)
  for i = 1, 4 do print("seen", run, names[i], seen[i]) end
end

function stop.hook(run)
  debug.sethook()
  tell(run)
end

-- Coroutines have hooks of their own in PUC Lua: this one begins with its profiler's.
local function begin_coroutine()
  body = coroutine.wrap(function(n)
    if profiler == "hook" and not jit then begin.hook() end
    in_coroutine(n)
  end)
end

function begin.jp() require "jit.p".start("lGi1", os.getenv "CAP" .. ".jp") end

-- Lines of "module:line;module:line;... samples", outermost first.
function stop.jp(run)
  require "jit.p".stop()
  seen = { 0, 0, 0, 0 }
  for line in io.lines(os.getenv "CAP" .. ".jp") do
    local last
    for at in line:gmatch("shares%.lua:(%d+)") do last = kind_of(tonumber(at)) or last end
    if last then seen[last] = seen[last] + tonumber(line:match(" (%d+)$")) end
  end
  tell(run)
end

for run = 1, runs do
  begin_coroutine()
  begin[profiler](run)
  work(run)
  stop[profiler](run)
end
