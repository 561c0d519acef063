-- inlined.lua - one compiled loop that has three functions inside, each with a known part of its
-- time: LIGHT, MEDIUM and HEAVY do arithmetic of 1, 3 and 6 parts. arg[1]: how often; arg[2]:
-- "alone" prints the percent of the time that each of them takes in a loop of its own.
--
-- SPDX-License-Identifier: MIT
local n, is_alone = tonumber(arg[1]), arg[2] == "alone"

-- Each step waits for the one before, so the times of steps add up.
local function chunk(text)
  text = text:gsub("STEPS(%d+)", function(steps)
    return ("x = x * 0.9999999 + 0.5 "):rep(tonumber(steps))
  end)
  return assert(loadstring(text, "=inlined"))()
end

local functions = chunk[[
  local function light(x)
    if x > 1e300 then return 0 end
    STEPS12 return x
  end
  local function medium(x)
    if x > 1e300 then return 0 end
    STEPS36 return x
  end
  local function heavy(x)
    if x > 1e300 then return 0 end
    STEPS72 return x
  end
  local function through(f, x) return f(x) end
  local function all(n)
    local x = 1
    for i = 1, n do
      x = light(x)
      x = through(medium, x)
      x = through(heavy, x)
    end
    return x
  end
  return { light = light, medium = medium, heavy = heavy, all = all }
]]

if not is_alone then
  functions.all(n)
  return
end
local times, sum = {}, 0
for _, name in ipairs{ "light", "medium", "heavy" } do
  local loop = loadstring[[
    local f, n = ...
    local x = 1
    for i = 1, n do x = f(x) end
  ]]
  local start = os.clock()
  loop(functions[name], n)
  times[name] = os.clock() - start
  sum = sum + times[name]
end
for name, seconds in pairs(times) do print(name, 100 * seconds / sum) end
