-- again.lua - two texts under one chunk name, loaded, run and thrown away in turns: of one
-- shape, but for the line in which they stand. Code, names and lines of one take the place
-- of the other's in memory, so nothing of what was read there once tells them apart.
--
--     jsprof-lua --profile-output=again.cap tests/lua/scripts/again.lua SECONDS
--
-- SPDX-License-Identifier: MIT
local seconds = tonumber(arg and arg[1] or 0.02)
local load = loadstring or load

local text = "local till, clock = ... " ..
  "local function spin() local x = 0 " ..
  "while clock() < till do for i = 1, 1000 do x = x + i % 7 end end return x end " ..
  "local n = spin() return n"

local function run(lines)
  load(("\n"):rep(lines - 1) .. text, "=again")(os.clock() + seconds, os.clock)
  return lines
end

local function early()
  local n = run(6)
  return n
end

local function late()
  local n = run(26)
  return n
end

for i = 1, 40 do
  local f = i % 2 == 0 and early or late
  f()
  collectgarbage()
  collectgarbage()
end
