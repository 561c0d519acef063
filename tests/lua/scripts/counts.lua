-- counts.lua - a program that keeps count of its own calls: recursion, tail calls,
-- coroutines, errors, a hook of its own. Prints "name its-count our-count" where they differ.
--
-- SPDX-License-Identifier: MIT
local jsprof = require "jsprof"

jsprof.start{ output = arg[1], mode = arg[2] or "calls", calls = arg[3] }
local own = { fib = 0, tail = 0, body = 0, fails = 0, callback = 0, hook = 0, last = 0 }
local concat, pcall, error, wrap, yield = table.concat, pcall, error, coroutine.wrap,
  coroutine.yield

local function fib(n)
  own.fib = own.fib + 1
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local function last() own.last = own.last + 1 end

local function tail(n)
  own.tail = own.tail + 1
  if n == 0 then return last() end
  return tail(n - 1)
end

local function body(n)
  own.body = own.body + 1
  for i = 1, n do yield(fib(3)) end
  if n > 1 then wrap(body)(n - 1) end
end

local function fails(n)
  own.fails = own.fails + 1
  if n == 0 then error("at last") end
  fails(n - 1)
  return n
end

local function callback()
  own.callback = own.callback + 1
  return "x"
end

local function hook() own.hook = own.hook + 1 end

fib(18)
tail(1000)
for i = 1, 50 do
  local co = wrap(body)
  for _ = 1, i % 5 + 1 do co(5) end
end
for i = 1, 20 do pcall(fails, i) end
string.gsub(("a"):rep(300), "a", callback)
local seen = 0
debug.sethook(function() seen = seen + 1 end, "l")
fib(5)
assert(debug.gethook() ~= nil, "the program's own hook is hidden")
debug.sethook()
assert(seen > 10, "the program's own hook does not run")
fib(6)

if jit then -- which compiles nothing that calls, whatever it is told
  jit.off(fib) jit.on(fib) jit.on()
end
for _ = 1, 200 do fib(8) end
for _ = 1, 1e5 do last() end

local counted = {}
for _, row in ipairs(jsprof.calls()) do counted[row.name] = row.calls end
jsprof.stop()
for name, n in pairs(own) do
  if n ~= (counted[name] or 0) then print(name, n, counted[name] or 0) end
end
if jit then assert(jit.status(), "it is not on again") end
assert(counted["pcall"] == 20, "pcall: " .. tostring(counted["pcall"]))
assert(counted["string.gsub"] == 1, "gsub: " .. tostring(counted["string.gsub"]))
print("fib " .. own.fib)
