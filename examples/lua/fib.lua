-- fib.lua - Fibonacci numbers by plain recursion: calls and little else.
--
--     jsprof-lua --profile-output=fib.cap examples/lua/fib.lua [N]
--
-- SPDX-License-Identifier: MIT

local n = tonumber(arg and arg[1]) or 32

local function fib(k)
  if k < 2 then return k end
  return fib(k - 1) + fib(k - 2)
end

print(string.format("fib(%d) = %d", n, fib(n)))
