-- return_hooks.lua [CAPTURE CALLS] - hooks on returns that come and go, set by every kind
-- of call of debug.sethook. It prints what they see.
--
-- SPDX-License-Identifier: MIT
local capture, calls = ...
local seen = {}
local getinfo = debug.getinfo
local function hook(event)
  local info = getinfo(2, "nS")
  seen[#seen + 1] = event .. " " .. info.what .. " " .. tostring(info.name)
end
local function leaf() return 1 end
local function tail() return leaf() end
if capture then require "jsprof".start{ output = capture, mode = "both", calls = calls } end
for _, mask in ipairs{ "r", "cr", "c", "crl" } do
  debug.sethook(hook, mask)
  leaf() math.abs(1) tail() debug.gethook() pcall(error, 1)
  debug.sethook(hook, "r") leaf()
  pcall(debug.sethook, hook, mask)
  leaf()
  debug.sethook(hook, "", 3) leaf()
  debug.sethook()
  pcall(debug.sethook, hook, mask)
  coroutine.wrap(function()
    leaf() debug.sethook() leaf() debug.sethook(hook, "r") leaf() debug.sethook()
  end)()
  pcall(debug.sethook)
  seen[#seen + 1] = "end of " .. mask
end
local sethook = debug.sethook
local function set(...) return sethook(...) end
set(hook, "r") leaf() set() leaf() set(hook, "cr") leaf() set()
if capture then require "jsprof".stop() end
print(table.concat(seen, "\n"))
