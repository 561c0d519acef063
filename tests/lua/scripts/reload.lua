-- reload.lua - chunks that are loaded, run and thrown away, one after another: what they
-- leave in memory is soon the next one's. Chunk piece07 has its functions in line 7, and
-- up to two others before the one that runs.
--
--     jsprof-lua --profile-output=reload.cap tests/lua/scripts/reload.lua SECONDS
--
-- SPDX-License-Identifier: MIT
local seconds = tonumber(arg[1])
local load = loadstring or load

local function piece(i)
  local text = ("\n"):rep(i - 1) .. ("local function other() end "):rep(i % 3) ..
    "return function(till, clock) local x = 0 " ..
    "while clock() < till do for i = 1, 1000 do x = x + i % 7 end end return x end"
  load(text, string.format("=piece%02d", i))()(os.clock() + seconds, os.clock)
end

-- Two functions whose code stays, and whose closures take each other's place.
local function made(i)
  if i % 2 == 0 then
    return function(till, clock) while clock() < till do for _ = 1, 1000 do end end end
  end
  return function(till, clock) repeat for _ = 1, 1000 do end until clock() >= till end
end

for i = 1, 40 do
  piece(i)
  collectgarbage()
  collectgarbage()
end
for i = 1, 40 do
  made(i)(os.clock() + seconds, os.clock)
  collectgarbage()
end
