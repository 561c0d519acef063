-- kinds.lua - time of every kind: interpreted, compiled (LuaJIT), C, collected, and LuaJIT's
-- compiler. arg[1]: which; arg[2]: how many seconds of CPU time, so that a fast machine has as many
-- samples.
--
-- SPDX-License-Identifier: MIT
local which, seconds = arg[1], tonumber(arg[2])
local load = loadstring or load

local function loop(count) local x = 0 for i = 1, count do x = x + i % 7 end return x end
local function in_c(count) local s = ("x"):rep(1e4) for _ = 1, count do s:gsub("y", "z") end end
local function collected(count)
  local keep = {}
  for i = 1, 2e4 do keep[i] = { i } end
  for _ = 1, count do collectgarbage() end
end
local function garbage(count) for i = 1, count do local t = { i, { i } } end end
-- New code each time, hot at once, so that the compiler has always something to do.
local function compiled_anew(count)
  for i = 1, count do
    load(([[local t, x = {}, %d for i = 1, 70 do x = x + i t[i %% 7] = x * 2 - i end]]):format(i))()
  end
end

if which == "interpreted" and jit then jit.off() end
-- Each with its count for a turn: compiled code has so few turns that this loop is interpreted.
local kinds = { interpreted = { loop, 1e6 }, compiled = { loop, 1e8 }, c = { in_c, 100 },
                collected = { collected, 50 }, garbage = { garbage, 1e5 },
                compiler = { compiled_anew, 100 } }
local work, count = kinds[which][1], kinds[which][2]
repeat work(count) until os.clock() > seconds
