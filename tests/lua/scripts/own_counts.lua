-- own_counts.lua - a program that keeps count of its own calls beside ours: into each of its
-- Lua functions a line is written that counts, and each library function gets a wrapper.
--
--     lua own_counts.lua CAPTURE PROGRAM ARG [WHAT]: what is counted, all without it
--
-- Prints "NAME ITS-COUNT OUR-COUNT" where they differ, then how many agree.
--
-- SPDX-License-Identifier: MIT
local jsprof = require "jsprof"
local load = loadstring or load
local capture, program = arg[1], arg[2]
local argument = arg[3]
local print, pairs, ipairs = print, pairs, ipairs

local own = {}
OWN_COUNT = own

-- "function name(...)" begins a function; its count stands in its first line.
local at, lines = 0, {}
for line in io.lines(program) do
  at = at + 1
  local code, comment = line:match("^(.-)(%-%-.*)$")
  local key = "line " .. at
  local changed, n = (code or line):gsub("(%f[%w]function%s*[%w_.:]*%s*%b())",
    "%1 OWN_COUNT['" .. key .. "'] = OWN_COUNT['" .. key .. "'] + 1; ")
  assert(n < 2, "two functions in one line")
  if n > 0 then own[key] = 0 end
  lines[at] = changed .. (comment or "")
end
local run = assert(load(table.concat(lines, "\n"), "@" .. program))

-- The library functions are known by the names that they have now.
jsprof.start{ output = capture, mode = "calls", calls = arg[4] }
for module, names in pairs{
  string = { "format", "gsub", "gmatch", "upper", "rep" },
  table = { "concat", "sort" }, coroutine = { "yield", "wrap" },
} do
  for _, name in ipairs(names) do
    local key, f = module .. "." .. name, _G[module][name]
    own[key] = 0
    _G[module][name] = function(...)
      own[key] = own[key] + 1
      return f(...)
    end
  end
end

_G.print = function() end
arg = { [0] = program, argument }
run()
local rows = jsprof.calls()
jsprof.stop()

local ours = {}
for _, row in ipairs(rows) do
  local key = row.name == "string.gfind" and "string.gmatch" or row.name -- one in Lua 5.1
  if row.file ~= "[C]" then
    key = row.file and row.line and row.file:sub(-#program) == program and "line " .. row.line
  end
  if key then ours[key] = (ours[key] or 0) + row.calls end
end
local agree, calls = 0, 0
for key, n in pairs(own) do
  if n == (ours[key] or 0) then
    agree = agree + 1
    calls = calls + n
  else
    print(key, n, ours[key] or 0)
  end
end
print(agree .. " functions agree, " .. calls .. " calls")
