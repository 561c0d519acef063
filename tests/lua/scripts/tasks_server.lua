-- tasks_server.lua - a server of luv under load: so many clients, each with so many requests, one
-- after the other. Each request takes the server a little work. Prints how often each function
-- was called.
--
-- SPDX-License-Identifier: MIT
local uv = require "luv"
local clients, requests = tonumber(arg[1]), tonumber(arg[2])
local runs, open = {}, clients
local function note(name)
  runs[name] = (runs[name] or 0) + 1
end

local server = uv.new_tcp()
local function on_connection()
  note "on_connection"
  local peer = uv.new_tcp()
  server:accept(peer)
  local function on_written()
    note "on_written"
  end
  local function on_request(_, data)
    note "on_request"
    if not data then return peer:close() end
    local x = 0
    for i = 1, 500 do x = x + i % 7 end
    peer:write("answer " .. x, on_written)
  end
  peer:read_start(on_request)
end
server:bind("127.0.0.1", 0)
server:listen(128, on_connection)
local port = server:getsockname().port
for _ = 1, clients do
  local client, left = uv.new_tcp(), requests
  local function on_answer()
    note "on_answer"
    left = left - 1
    if left > 0 then return client:write "request" end
    client:close()
    open = open - 1
    if open == 0 then server:close() end
  end
  local function on_connected(err)
    assert(not err, err)
    note "on_connected"
    client:read_start(on_answer)
    client:write "request"
  end
  client:connect("127.0.0.1", port, on_connected)
end
uv.run()
for name, n in pairs(runs) do print(name, n) end
