-- ring.lua - a token that goes round a ring of coroutines: switching and little else.
--
--     jsprof-lua --profile-output=ring.cap examples/lua/ring.lua [ROUNDS]
--
-- SPDX-License-Identifier: MIT

local rounds = tonumber(arg and arg[1]) or 4000
local members = 100

local function hand_on(token)
  return token + 1
end

local function member()
  local token = coroutine.yield()
  while true do token = coroutine.yield(hand_on(token)) end
end

local ring = {}
for i = 1, members do
  ring[i] = coroutine.wrap(member)
  ring[i]()
end

local function round(token)
  for i = 1, members do token = ring[i](token) end
  return token
end

local token = 0
for _ = 1, rounds do token = round(token) end
print("the token went through " .. token .. " hands")
