-- jsprof-scm-1.rockspec - the Lua module, built by LuaRocks from a checkout of jsprof:
--
--     luarocks make bindings/lua/jsprof-scm-1.rockspec
--
-- SPDX-License-Identifier: MIT
package = "jsprof"
version = "scm-1"
source = { url = "git+file://." }
description = {
  summary = "Sampling profiler for Lua 5.1 to 5.5 and LuaJIT, with the C stack",
  license = "MIT",
}
supported_platforms = { "linux" }
dependencies = { "lua >= 5.1, < 5.6" }
build = {
  type = "command",
  build_command = "make lua-rock ROCK_LUA=$(LUA)",
  install_command = "install -D ${B:-build}/lib/lua/rock/jsprof.so $(LIBDIR)/jsprof.so",
}
