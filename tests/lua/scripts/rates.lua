-- rates.lua - LuaJIT's own profiler and ours for a second each, both asked for a sample every
-- millisecond. Prints how many each took.
--
-- SPDX-License-Identifier: MIT
local profile, jsprof = require "jit.profile", require "jsprof"
local function burn(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local function turns(seconds)
  local since = jsprof.now()
  while jsprof.now() - since < seconds do burn(1e4) end
end

local theirs = 0
profile.start("fi1", function(_, samples) theirs = theirs + samples end)
turns(1)
profile.stop()
jsprof.start{ output = arg[1], clock = "wall", hz = 1000 }
turns(1)
print("theirs " .. theirs .. " ours " .. jsprof.stop().samples)
