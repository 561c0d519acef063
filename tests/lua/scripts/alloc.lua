-- alloc.lua - what functions allocate, beside what collectgarbage says. While nothing is
-- collected, lists only grow, so the two are equal to the byte.
--
-- SPDX-License-Identifier: MIT
local jsprof = require "jsprof"
local count = collectgarbage

local own = {}
local function make(name, n)
  local list = false
  local before = count("count")
  for _ = 1, n do list = { list } end
  own[name] = (own[name] or 0) + (count("count") - before) * 1024
  return list
end
local function once() return (make("make", 1000)) end
local function deep(n) if n > 0 then return (deep(n - 1)) end return (once()) end
local function waiting()
  local list = false
  while true do
    local before = count("count")
    for _ = 1, 500 do list = { list } end
    own.waits = (own.waits or 0) + (count("count") - before) * 1024
    coroutine.yield()
  end
end
make("make", 1) deep(3) -- so that stacks and constants are there
own = { make = 0, waits = 0 }

collectgarbage("stop")
jsprof.start{ output = arg[1], mode = "calls", alloc = true }
local waits = coroutine.wrap(waiting)
waits()
local function bytes_of(name)
  for _, row in ipairs(jsprof.calls()) do if row.name == name then return row.self_bytes end end
end
local first, first_own = bytes_of("waiting"), own.waits
make("make", 1)
deep(3)
waits()
once()
waits()
local rows = jsprof.calls()
jsprof.stop()
collectgarbage("restart")

local by_name = {}
for _, row in ipairs(rows) do by_name[row.name] = row end
local made = by_name.make.self_bytes
local bad = 0
local function same(what, wanted, found)
  if wanted ~= found then
    print(what, wanted, found)
    bad = bad + 1
  end
end
same("make", own.make, made)
same("deep, by what it calls, once", true, by_name.deep.total_bytes >= 1000 * 32 and
     by_name.deep.total_bytes < by_name.once.total_bytes)
same("once", 0, by_name.once.self_bytes)
same("the coroutine", own.waits - first_own, by_name.waiting.self_bytes - first)
for _ = 1, 10 do make("make", 1000) end
collectgarbage()
print(bad == 0 and "all agree" or "differs")
