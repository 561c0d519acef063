-- cqueues.lua - two threads of cqueues, which resumes them in C. Prints what share of their
-- time the second one takes, by the script's own clock.
--
-- SPDX-License-Identifier: MIT
local cqueues = require "cqueues"
local jsprof = require "jsprof"

local function burn(seconds)
  local x, start = 0, os.clock()
  repeat
    for i = 1, 20000 do x = x + i % 7 end
  until os.clock() - start > seconds
  return os.clock() - start
end

local own = { short = 0, long = 0 }
local function turns(name, seconds)
  for _ = 1, 25 do
    own[name] = own[name] + burn(seconds)
    cqueues.sleep(0.001)
  end
end
local function short() turns("short", 0.004) end
local function long() turns("long", 0.012) end

jsprof.start{ output = arg[1], clock = "wall" }
local loop = cqueues.new()
loop:wrap(short)
loop:wrap(long)
assert(loop:loop())
jsprof.stop()
print(100 * own.long / (own.long + own.short))
