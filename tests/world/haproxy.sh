#!/bin/sh
# haproxy.sh - haproxy, as it is: a service in Lua, which sleeps between its turns, is recorded
# by the preloaded module.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lua/lib-real.sh"
needs "$(lua_of /usr/sbin/haproxy 5.3)" haproxy /usr/sbin/haproxy
needs "$VERSION" curl /usr/bin/curl

cat >"$SCRATCH/service.lua" <<LUA
local turn = dofile("$SCRIPTS/turns.lua")
core.register_service("turns", "http", function(applet)
  local share
  for _ = 1, 40 do
    share = turn()
    core.msleep(1)
  end
  local answer = tostring(share)
  applet:set_status(200)
  applet:add_header("content-length", #answer)
  applet:start_response()
  applet:send(answer)
end)
LUA
cat >"$SCRATCH/haproxy.cfg" <<CFG
global
  lua-load $SCRATCH/service.lua
  tune.lua.service-timeout 300s
  nbthread 1
defaults
  mode http
  timeout client 300s
  timeout server 300s
  timeout connect 300s
frontend f
  bind unix@$SCRATCH/socket
  http-request use-service lua.turns
CFG

recorded()
{
    rm -f "$SCRATCH/socket"
    serving /usr/sbin/haproxy -db -f "$SCRATCH/haproxy.cfg" >"$SCRATCH/log" 2>&1 &
    server=$!
    wait_for "$SCRATCH/socket" &&
        curl -sS --unix-socket "$SCRATCH/socket" http://localhost/ >"$SCRATCH/out"
    kill -USR1 $server
    wait $server || return 1
    cat "$SCRATCH/log" "$SCRATCH/out"
    [ -s "$SCRATCH/out" ]
}

check 'haproxy answers' recorded
check_real "$SCRATCH/out"
finish
