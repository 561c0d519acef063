-- host.lua - for a host that resumes it from C: works, yields, works in a coroutine too.
--
-- SPDX-License-Identifier: MIT
local function burn(n)
  local x = 0
  for i = 1, n do x = x + i % 7 + i % 5 end
  return x
end

local function worker()
  while true do coroutine.yield(burn(20000)) end
end

local work = coroutine.wrap(worker)
for _ = 1, jit and 6000 or 1500 do
  burn(20000)
  work()
  coroutine.yield()
end
