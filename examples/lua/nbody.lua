-- nbody.lua - five bodies that attract each other: arithmetic on fields of tables.
--
--     jsprof-lua --profile-output=nbody.cap examples/lua/nbody.lua [STEPS]
--
-- SPDX-License-Identifier: MIT

local steps = tonumber(arg and arg[1]) or 200000
local step = 0.01

-- Invented bodies: a heavy one in the middle, four on roughly circular orbits.
local bodies = {
  { x = 0, y = 0, z = 0, vx = 0, vy = 0, vz = 0, mass = 40 },
  { x = 5, y = 0, z = 0.1, vx = 0, vy = 2.8, vz = 0, mass = 0.04 },
  { x = -9, y = 1, z = 0, vx = 0, vy = -2.1, vz = 0.1, mass = 0.01 },
  { x = 0, y = 14, z = -1, vx = -1.7, vy = 0, vz = 0, mass = 0.002 },
  { x = 2, y = -20, z = 0, vx = 1.4, vy = 0.2, vz = 0, mass = 0.003 },
}

local function attract(a, b)
  local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
  local square = dx * dx + dy * dy + dz * dz
  local pull = step / (square * square ^ 0.5)
  local of_a, of_b = a.mass * pull, b.mass * pull
  a.vx, a.vy, a.vz = a.vx - dx * of_b, a.vy - dy * of_b, a.vz - dz * of_b
  b.vx, b.vy, b.vz = b.vx + dx * of_a, b.vy + dy * of_a, b.vz + dz * of_a
end

local function move(body)
  body.x = body.x + step * body.vx
  body.y = body.y + step * body.vy
  body.z = body.z + step * body.vz
end

local function advance()
  for i = 1, #bodies do
    for j = i + 1, #bodies do attract(bodies[i], bodies[j]) end
  end
  for i = 1, #bodies do move(bodies[i]) end
end

local function energy()
  local sum = 0
  for i, a in ipairs(bodies) do
    sum = sum + a.mass * (a.vx ^ 2 + a.vy ^ 2 + a.vz ^ 2) / 2
    for j = i + 1, #bodies do
      local b = bodies[j]
      local distance = ((a.x - b.x) ^ 2 + (a.y - b.y) ^ 2 + (a.z - b.z) ^ 2) ^ 0.5
      sum = sum - a.mass * b.mass / distance
    end
  end
  return sum
end

local before = energy()
for _ = 1, steps do advance() end
print(string.format("energy %.6f, then %.6f", before, energy()))
