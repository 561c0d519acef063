-- trees.lua - binary trees, made and thrown away: work for the allocator and the
-- collector.
--
--     jsprof-lua --profile-output=trees.cap examples/lua/trees.lua [DEPTH]
--
-- SPDX-License-Identifier: MIT

local depth = tonumber(arg and arg[1]) or 13

local function grow(levels)
  if levels == 0 then return {} end
  return { grow(levels - 1), grow(levels - 1) }
end

local function count(tree)
  if not tree[1] then return 1 end
  return 1 + count(tree[1]) + count(tree[2])
end

local kept = grow(depth)
for levels = 4, depth, 2 do
  local trees, nodes = 2 ^ (depth - levels + 2), 0
  for _ = 1, trees do nodes = nodes + count(grow(levels)) end
  print(string.format("%d trees of %d levels: %d nodes", trees, levels, nodes))
end
print(string.format("kept: %d nodes", count(kept)))
