-- richards.lua - tasks of an operating system that send each other packets, written anew after
-- the design of Martin Richards' benchmark. arg[1]: how often; arg[2]: a function that works much
-- more than in the benchmark. It prints the CPU time.
--
-- SPDX-License-Identifier: MIT
local runs, burdened = tonumber(arg[1]), arg[2]
if burdened then
  local file = assert(io.open(arg[0]))
  local text, work = file:read "*a", "if sink > 1e300 then sink = 0 end local x = sink "
  file:close()
  work = work .. ("x = x * 0.9999999 + 0.5 "):rep(400) .. "sink = x"
  local n
  text, n = text:gsub("%-%-%[%[" .. burdened .. "%]%]", work)
  assert(n == 1, "no such function")
  arg[2] = nil
  return assert(loadstring(text, "@" .. arg[0]))()
end
local sink = 1.5
local DEVICE, WORK = 1, 2
local IDLE_TASK, WORKER, HANDLER_A, HANDLER_B, DEVICE_A, DEVICE_B = 1, 2, 3, 4, 5, 6

local tasks, current, list, queued, held

local function append(packet, queue) --[[append]]
  packet.link = nil
  if not queue then return packet end
  local at = queue
  while at.link do at = at.link end
  at.link = packet
  return queue
end

local function newPacket(link, id, kind)
  return { link = link, id = id, kind = kind, datum = 0, data = { 0, 0, 0, 0 } }
end

local function newTask(id, priority, queue, run, state)
  local t = { id = id, priority = priority, queue = queue, run = run, state = state,
              waiting = true, held = false, pending = queue ~= nil, link = list }
  list = t
  tasks[id] = t
  return t
end

local function queuePacket(packet) --[[queuePacket]]
  local t = tasks[packet.id]
  queued = queued + 1
  packet.link = nil
  packet.id = current.id
  if not t.queue then
    t.queue = packet
    t.pending = true
    if t.priority > current.priority then return t end
  else
    t.queue = append(packet, t.queue)
  end
  return current
end

local function wait() current.waiting = true return current end
local function hold() held = held + 1 current.held = true return current.link end
local function release(id)
  local t = tasks[id]
  t.held = false
  return t.priority > current.priority and t or current
end

local function runTask(t) --[[runTask]]
  local packet
  if t.pending and t.waiting then
    packet = t.queue
    t.queue = packet.link
    t.waiting = false
    t.pending = t.queue ~= nil
  end
  return t.run(packet, t.state)
end

local function schedule()
  current = list
  while current do
    local t = current --[[schedule]]
    if t.held or (t.waiting and not t.pending) then
      current = t.link
    else
      current = runTask(t)
    end
  end
end

local function idle(_, s) --[[idle]]
  s.count = s.count - 1
  if s.count == 0 then return hold() end
  if s.control % 2 == 0 then
    s.control = s.control / 2
    return release(DEVICE_A)
  end
  s.control = bit.bxor((s.control - 1) / 2, 0xD008)
  return release(DEVICE_B)
end

local function worker(packet, s) --[[worker]]
  if not packet then return wait() end
  s.to = s.to == HANDLER_A and HANDLER_B or HANDLER_A
  packet.id = s.to
  packet.datum = 0
  for i = 1, 4 do
    s.count = s.count % 26 + 1
    packet.data[i] = 64 + s.count
  end
  return queuePacket(packet)
end

local function handler(packet, s) --[[handler]]
  if packet then
    if packet.kind == WORK then s.work = append(packet, s.work)
    else s.device = append(packet, s.device) end
  end
  local work = s.work
  if work then
    local count = work.datum
    if count >= 4 then
      s.work = work.link
      return queuePacket(work)
    end
    local device = s.device
    if device then
      s.device = device.link
      device.datum = work.data[count + 1]
      work.datum = count + 1
      return queuePacket(device)
    end
  end
  return wait()
end

local function device(packet, s) --[[device]]
  if packet then
    s.pending = packet
    return hold()
  end
  local pending = s.pending
  if not pending then return wait() end
  s.pending = nil
  return queuePacket(pending)
end

local function richards()
  tasks, current, list, queued, held = {}, nil, nil, 0, 0
  newTask(IDLE_TASK, 0, nil, idle, { control = 1, count = 10000 }).waiting = false
  newTask(WORKER, 1000, newPacket(newPacket(nil, WORKER, WORK), WORKER, WORK), worker,
          { to = HANDLER_A, count = 0 })
  for i = 0, 1 do
    local d = DEVICE_A + i
    local q = newPacket(newPacket(newPacket(nil, d, DEVICE), d, DEVICE), d, DEVICE)
    newTask(HANDLER_A + i, 2000 + 1000 * i, q, handler, {})
  end
  newTask(DEVICE_A, 4000, nil, device, {})
  newTask(DEVICE_B, 5000, nil, device, {})
  schedule()
  return queued, held
end

local start = os.clock()
for _ = 1, runs do richards() end
assert(queued == 23246 and held == 9297, "the benchmark's own figures")
print(os.clock() - start)
