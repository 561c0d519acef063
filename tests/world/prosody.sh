#!/bin/sh
# prosody.sh - prosody, as it is: a module of its own with a timer is recorded. Its Lua is
# lua5.4, which requires the module.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lua/lib-real.sh"
needs 5.4 prosody /usr/bin/prosody

mkdir "$SCRATCH/data" "$SCRATCH/modules" "$SCRATCH/certs"
cat >"$SCRATCH/modules/mod_turns.lua" <<LUA
local turn = dofile("$SCRIPTS/turns.lua")
local left, share = 40
require "util.timer".add_task(0.01, function()
  share, left = turn(), left - 1
  if left > 0 then return 0.001 end
  print("share", share)
  prosody.shutdown("done")
end)
LUA
cat >"$SCRATCH/prosody.cfg.lua" <<LUA
run_as_root = true
data_path = "$SCRATCH/data"
pidfile = "$SCRATCH/data/pid"
plugin_paths = { "$SCRATCH/modules" }
modules_enabled = { "turns" }
modules_disabled = { "s2s", "c2s", "tls", "offline" }
log = { error = "*console" }
c2s_ports, s2s_ports, http_ports, https_ports, component_ports = {}, {}, {}, {}, {}
VirtualHost "localhost"
LUA

recorded()
{
    JSPROF=$SCRATCH/cap LUA_INIT='require "jsprof"' LUA_CPATH="$B/lib/lua/5.4/?.so;;" \
        LD_PRELOAD=$ASAN_LIBRARY timeout 300 prosody --config "$SCRATCH/prosody.cfg.lua" -F \
        >"$SCRATCH/log" 2>&1
    grep '^share' "$SCRATCH/log" >"$SCRATCH/out" || { cat "$SCRATCH/log"; return 1; }
}

check 'prosody runs' recorded
check_real "$SCRATCH/out"
finish
