-- strings.lua - building text: formatting, joining, replacing, counting words.
--
--     jsprof-lua --profile-output=strings.cap examples/lua/strings.lua [ROUNDS]
--
-- SPDX-License-Identifier: MIT

local rounds = tonumber(arg and arg[1]) or 60
local words = { "loop", "stack", "frame", "table", "string", "closure", "upvalue", "yield" }

local function sentence(seed)
  local parts = {}
  for i = 1, 12 do
    seed = (seed * 1103 + 12345) % 65536
    parts[i] = words[seed % #words + 1]
  end
  return string.format("%05d: %s.", seed, table.concat(parts, " ")), seed
end

local function page(seed)
  local lines = {}
  for i = 1, 200 do lines[i], seed = sentence(seed) end
  return table.concat(lines, "\n")
end

local function shout(text)
  return (string.gsub(text, "%f[%w]%l", string.upper))
end

local function tally(text, counts)
  for word in string.gmatch(text, "%a+") do
    counts[word] = (counts[word] or 0) + 1
  end
end

local counts = {}
for round = 1, rounds do tally(shout(page(round)), counts) end
local names = {}
for name in pairs(counts) do names[#names + 1] = name end
table.sort(names)
for i, name in ipairs(names) do names[i] = name .. " " .. counts[name] end
print(table.concat(names, ", "))
