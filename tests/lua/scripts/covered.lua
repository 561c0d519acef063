-- covered.lua - runs the script arg[1] below LuaCov, which is where the environment's LUACOV
-- says: a folder with its source.
--
-- SPDX-License-Identifier: MIT
package.path = os.getenv("LUACOV") .. "/src/?.lua;" .. package.path
require "luacov"
local script = table.remove(arg, 1)
assert(loadfile(script))()
