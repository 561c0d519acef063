-- turns.lua - work for a program that embeds Lua: returns what makes a turn of it. `short` and
-- `long` take their times by the program's own clock, in functions that go into a library in C,
-- make tables and call back from C. A turn returns what share of the time so far `long` took.
--
-- SPDX-License-Identifier: MIT
local text = ("the quick brown fox jumps over the lazy dog "):rep(20)

local function is_longer(a, b)
  if #a ~= #b then return #a > #b end
  return a < b
end

local function count(words)
  local seen = {}
  for _, word in ipairs(words) do seen[word] = (seen[word] or 0) + 1 end
  return seen
end

local function sorted()
  local words = {}
  for word in text:gmatch("%a+") do words[#words + 1] = word end
  table.sort(words, is_longer)
  return count(words)
end

local function work(seconds)
  local start = os.clock()
  repeat
    for _ = 1, 5 do sorted() end
  until os.clock() - start > seconds
  return os.clock() - start
end

local own = { short = 0, long = 0 }
local function short() own.short = own.short + work(0.01) end
local function long() own.long = own.long + work(0.03) end

return function()
  short()
  long()
  return 100 * own.long / (own.long + own.short)
end
