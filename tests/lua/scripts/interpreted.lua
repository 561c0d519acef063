-- interpreted.lua - one loop, interpreted, that spends much of its time in the VM's own
-- subroutines, or where C calls the VM.
--
-- SPDX-License-Identifier: MIT
jit.off()
local what = ...
local floor, byte, sub = math.floor, string.byte, string.sub
local slots, fields = {}, {}

local list = {}
for i = 1, 50 do list[i] = i * 7 % 50 end
local function is_less(a, b) return a < b end

local work = {
  remainder = function(i, s) return (s * 1.0001 + i) % 7.3 end,
  floor = function(i, s) return floor(s * 1.01 + i) % 1000 end,
  tables = function(i, s) slots[i % 64 + 1] = { i }; fields["k" .. i % 10] = i; return s end,
  strings = function(i, s) return byte(sub("hello world", i % 5 + 1, i % 7 + 3)) or s end,
  calls = function(i, s) if i % 50 == 0 then table.sort(list, is_less) end return s end,
}

local function run(f)
  local s = 0.5
  for i = 1, 20000 do s = f(i, s) end
end

local begin = os.clock()
while os.clock() - begin < 0.4 do run(work[what]) end
