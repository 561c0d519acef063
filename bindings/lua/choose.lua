-- jsprof.lua - require "jsprof" in Lua 5.1 and in LuaJIT, which look for modules in the same
-- folders: load the module that was built for the program that runs.
--
-- SPDX-License-Identifier: MIT
local file = '@LIBDIR@/lua/' .. (jit and 'jit' or '5.1') .. '/jsprof.so'
return assert(package.loadlib(file, 'luaopen_jsprof'))(...)
