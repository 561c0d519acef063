-- own_hooks.lua - programs whose coroutines have hooks of their own, as debuggers and
-- coverage tools set them. Prints each event that a hook sees, and what debug.gethook says:
-- the same while calls are counted (arg[1] the capture, arg[2] the mode) as without.
--
-- SPDX-License-Identifier: MIT
local early_gethook = debug.gethook -- as a debugger that was loaded before
local start, stop = type, type -- C functions that do nothing
local jsprof = arg[1] and require "jsprof"
if jsprof then start, stop = jsprof.start, jsprof.stop end
local options = { output = arg[1], mode = arg[2], hz = 2000 }

local names = {} -- of hooks
local function hook(name)
  local function f(event, line)
    local at = debug.getinfo(2, "Sln")
    print(name, event, line, at.what, at.linedefined, at.currentline, at.name)
  end
  names[f] = name
  return f
end

local function tell(what, gethook, ...)
  local f, mask, count = gethook(...)
  print(what, names[f] or f, mask, count)
end

-- What all of them run: lines, calls, tail calls, C functions, an error, yields.
local n_leaf = 0
local function leaf(n)
  n_leaf = n_leaf + 1
  return n % 3
end
local function tail(n) return leaf(n) end
local function body(rounds)
  for i = 1, rounds do
    local x = leaf(i) + tail(i)
    pcall(error, "one of them")
    x = x + #tostring(x)
    coroutine.yield(x)
  end
end

local anchors = {} -- addresses are not used again: 5.1 would find hooks of the dead there
local function new(rounds)
  local co = coroutine.create(function() return body(rounds) end)
  anchors[#anchors + 1] = co
  return co
end
local function run(...)
  for _, co in ipairs{ ... } do
    print("resume")
    coroutine.resume(co)
  end
end

-- All the while they are counted, whatever is hooked.
local function counted()
  for _, row in ipairs(jsprof and jsprof.calls() or {}) do
    if row.name == "leaf" and row.calls ~= n_leaf then print("leaf", row.calls, n_leaf) end
  end
end

-- Older than the counting, with hooks and half through a count.
local old_line, old_count, old_none, old_idle = new(9), new(9), new(9), new(9)
debug.sethook(old_line, hook "old line", "l")
debug.sethook(old_count, hook "old count", "", 11)
debug.sethook(old_idle, hook "old idle", "crl", 7)
run(old_line, old_count, old_none, old_idle)
n_leaf = 0
start(options)
run(old_line, old_count, old_none)
run(old_line, old_count, old_none)

-- A line hook in one, a count hook in another, none in a third; other masks in others.
local lines, counts, none = new(9), new(9), new(9)
debug.sethook(lines, hook "lines", "l")
debug.sethook(counts, hook "counts", "", 7)
run(lines, counts, none, lines, counts, none)
local masked = {}
for i, mask in ipairs{ "c", "r", "cr", "cl", "rl", "crl" } do
  masked[i] = new(9)
  debug.sethook(masked[i], hook(mask), mask, i % 2 * 13)
end
run(unpack and unpack(masked) or table.unpack(masked))
for _, co in ipairs{ lines, counts, none, old_line, old_count, old_none, masked[6] } do
  tell("gethook", debug.gethook, co)
end

-- To ask does not start a count anew.
local asking = coroutine.create(function()
  for _ = 1, 20 do debug.gethook() end
end)
debug.sethook(asking, hook "asking", "", 17)
run(asking)

-- Inherited at creation: the C hook is, debug.sethook's function is not.
local heirs = {}
debug.sethook(hook "parent", "l", 5)
heirs[1] = new(9)
debug.sethook(hook "parent later", "r")
heirs[2] = new(9)
debug.sethook()
heirs[3] = new(9)
for _, co in ipairs(heirs) do tell("heir", debug.gethook, co) end
run(heirs[1], heirs[2], heirs[3])
local inner = coroutine.wrap(function()
  debug.sethook(hook "in between", "", 9)
  local co = new(9)
  tell("inner heir", debug.gethook, co)
  debug.sethook(co, hook "inner", "l")
  tell("inner heir", debug.gethook, co)
  run(co, co)
  coroutine.yield()
end)
inner()
tell("main", debug.gethook)

-- Changed, cleared and set again while suspended; by the hook itself; one that throws.
debug.sethook(lines, hook "lines now r", "r")
debug.sethook(counts)
debug.sethook(none, hook "none now", "l", 3)
run(lines, counts, none)
debug.sethook(lines)
debug.sethook(counts, hook "counts again", "", 5)
debug.sethook(none)
run(lines, counts, none)
tell("cleared", debug.gethook, lines)
local changing = new(9)
debug.sethook(changing, function()
  debug.sethook(hook "after once", "l")
end, "c")
run(changing, changing)
local throwing = new(9)
debug.sethook(throwing, function() debug.sethook() error("thrown", 0) end, "", 10)
print(coroutine.resume(throwing))

-- As LuaCov does: the same hook in the main one and, by wrappers, in each that is made.
do
  local create, same = coroutine.create, hook "same"
  coroutine.create = function(f)
    local co = create(f)
    debug.sethook(co, same, "l")
    return co
  end
  debug.sethook(same, "l")
  local a, b = new(2), new(2)
  coroutine.resume(a)
  coroutine.resume(b)
  coroutine.resume(a)
  coroutine.create = create
  debug.sethook()
end

-- Some are collected; the rest are asked and resumed after the counting.
local kept = {}
for i = 1, 300 do
  local co = coroutine.create(function() return body(9) end)
  debug.sethook(co, hook("kept " .. i), i % 3 == 0 and "l" or "", i % 3 * 10)
  if i % 2 == 0 then coroutine.resume(co) end
  if i % 50 < 3 then kept[#kept + 1] = co end
end
collectgarbage()
local never = new(9)
debug.sethook(never, hook "never run", "cr")
run(old_count, counts)
counted()
stop(nil)
local suspended = { old_line, old_count, old_none, old_idle, lines, counts, none, heirs[1],
                    heirs[2], heirs[3], changing, never }
for _, co in ipairs(masked) do suspended[#suspended + 1] = co end
for _, co in ipairs(kept) do suspended[#suspended + 1] = co end
for _, co in ipairs(suspended) do tell("after", early_gethook, co) end
for _, co in ipairs(suspended) do run(co) end
inner()
tell("main", early_gethook)

-- And once more.
n_leaf = 0
start(options)
for _, co in ipairs(suspended) do run(co) end
for _, co in ipairs(suspended) do tell("again", debug.gethook, co) end
counted()
stop(nil)
for _, co in ipairs(suspended) do tell("after again", early_gethook, co) end
for _, co in ipairs(suspended) do run(co) end
