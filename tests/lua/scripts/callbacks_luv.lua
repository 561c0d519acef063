-- callbacks_luv.lua - what a loop of luv calls: a timer, a connection, reads, a write, and a
-- coroutine. Prints how often each was called and the nanoseconds from its begin to its end,
-- by the script's own clock.
--
-- SPDX-License-Identifier: MIT
local uv = require "luv"
local jsprof = require "jsprof"

local order, calls, spent = {}, {}, {}
local function ended(name, since)
  if not calls[name] then
    order[#order + 1] = name
    calls[name], spent[name] = 0, 0
  end
  calls[name], spent[name] = calls[name] + 1, spent[name] + uv.hrtime() - since
end
local function spin(ms)
  local since = uv.hrtime()
  repeat until uv.hrtime() - since > ms * 1e6
  return since
end

local timer, resumed, server, client = uv.new_timer(), uv.new_timer(), uv.new_tcp(), uv.new_tcp()
local left = 20

local function on_timer()
  local since = spin(1)
  left = left - 1
  if left == 0 then
    timer:close()
    resumed:close()
  end
  ended("on_timer", since)
end

local function on_connection()
  local since, peer = spin(2), uv.new_tcp()
  server:accept(peer)
  local function on_read(_, data)
    local from = spin(3)
    if not data then
      peer:close()
      server:close()
    end
    table.sort({ 3, 1, 2 }, function(a, b) return a < b end) -- no callback of the loop
    ended("on_read", from)
  end
  peer:read_start(on_read)
  ended("on_connection", since)
end

local function on_written()
  local since = spin(1)
  client:close()
  ended("on_written", since)
end

local function on_connected()
  local since = spin(1)
  client:write("some text", on_written)
  ended("on_connected", since)
end

local function in_coroutine()
  while true do
    local since = spin(1)
    ended("in_coroutine", since)
    coroutine.yield()
  end
end

jsprof.start{ output = arg[1], loop = arg[2] ~= "off" }
timer:start(0, 5, on_timer)
resumed:start(1, 7, coroutine.wrap(in_coroutine))
server:bind("127.0.0.1", 0)
server:listen(8, on_connection)
client:connect("127.0.0.1", server:getsockname().port, on_connected)
local since = uv.hrtime()
uv.run()
local all = uv.hrtime() - since
jsprof.stop()
for _, name in ipairs(order) do
  print(("%s %d %.0f"):format(name, calls[name], spent[name]))
end
print(("all 1 %.0f"):format(all))
