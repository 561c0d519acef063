-- tasks_coroutines.lua - coroutines that a scheduler in Lua resumes, and the errors and misuse
-- of them. Prints what each resume returned, and in the end how often each function ran, and who
-- resumed it.
--
-- SPDX-License-Identifier: MIT
local queue, order, runs = {}, {}, {}
local function note(name)
  if not runs[name] then
    order[#order + 1] = name
    runs[name] = 0
  end
  runs[name] = runs[name] + 1
end
local function spawn(f)
  queue[#queue + 1] = coroutine.create(f)
end

local function third()
  note "third"
  coroutine.yield()
  note "third"
end
local function second()
  note "second"
  spawn(third)
  coroutine.yield()
  note "second"
end
local function first()
  note "first"
  spawn(second)
  coroutine.yield()
  note "first"
end
local function numbers()
  for i = 1, 3 do
    note "numbers"
    coroutine.yield(i, nil)
  end
  note "numbers"
  return nil
end
local function user()
  note "user"
  local sum = 0
  for i, none in coroutine.wrap(numbers) do
    sum = sum + i
  end
  print("sum", sum)
end
local function fails()
  note "fails"
  error "an error"
end
local function throws()
  note "throws"
  error "through a wrap"
end
local function catches()
  note "catches"
  local f = coroutine.wrap(throws)
  print(pcall(f))
  print(pcall(f)) -- it is dead now
  coroutine.yield()
  note "catches"
end
local function waits()
  note "waits"
  coroutine.yield()
end

for _, f in ipairs { first, user, fails, catches } do
  spawn(f)
end
while #queue > 0 do
  local co = table.remove(queue, 1)
  local ok, message = coroutine.resume(co)
  if not ok then print(message) end
  if coroutine.status(co) == "suspended" then queue[#queue + 1] = co end
end

-- One that never ends, and those that can not be resumed.
local co = coroutine.create(waits)
print(coroutine.resume(co))
local ended = coroutine.create(function() end)
print(coroutine.resume(ended, 1, 2))
print(coroutine.resume(ended))
print(pcall(coroutine.resume, 1))
print(pcall(coroutine.create, 1))
print(pcall(coroutine.wrap, 1))
print(coroutine.wrap(function() return coroutine.resume((coroutine.running())) end)())
print(type(select(2, pcall(coroutine.wrap(function() error {} end)))))
print(select(2, pcall(coroutine.wrap(function() error(12) end))))
print(coroutine.resume(coroutine.create(function(...)
  return select("#", ...), coroutine.yield(...)
end), 1, nil, 3))
print(select("#", coroutine.wrap(function(...) return ... end)(nil, nil)))
print(coroutine.wrap(function() return pcall(error, "inside") end)())
for _, name in ipairs(order) do
  io.stderr:write(name, " ", runs[name], "\n")
end
