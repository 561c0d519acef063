#!/bin/sh
# nginx.sh - nginx with its Lua module, as it is: a handler that sleeps between its turns is
# recorded by the preloaded module. nginx loads its Lua later.
#
# In Debian 12 its Lua module needs OpenResty's LuaJIT, whose package conflicts with the LuaJIT that
# this binding builds for. So `make deps` unpacks it, and the module, into $B/nginx.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib-real.sh"
NGINX_ROOT=$B/nginx
[ -d "$NGINX_ROOT/usr" ] || NGINX_ROOT=
modules=usr/lib/nginx/modules
library=$(find "$B/nginx" -name 'libluajit-5.1.so.2' 2>/dev/null | head -n 1)
library=${library%/*}
needs jit nginx-light /usr/sbin/nginx
needs jit libnginx-mod-http-ndk "$NGINX_ROOT/$modules/ndk_http_module.so"
needs jit libnginx-mod-http-lua "$NGINX_ROOT/$modules/ngx_http_lua_module.so"
needs jit curl /usr/bin/curl


mkdir "$SCRATCH/temp"
cat >"$SCRATCH/nginx.conf" <<CONF
load_module $NGINX_ROOT/$modules/ndk_http_module.so;
load_module $NGINX_ROOT/$modules/ngx_http_lua_module.so;
daemon off;
user root;
error_log stderr error;
pid $SCRATCH/pid;
master_process off;
events { worker_connections 16; }
http {
  access_log off;
  client_body_temp_path $SCRATCH/temp/1;
  proxy_temp_path $SCRATCH/temp/2;
  fastcgi_temp_path $SCRATCH/temp/3;
  uwsgi_temp_path $SCRATCH/temp/4;
  scgi_temp_path $SCRATCH/temp/5;
  lua_package_path "$NGINX_ROOT/usr/share/lua/5.1/?.lua;;";
  init_by_lua_block { turn = dofile("$SCRIPTS/turns.lua") }
  server {
    listen unix:$SCRATCH/socket;
    location / {
      content_by_lua_block {
        local share, spent = nil, 0
        for _ = 1, 40 do
          local since = os.clock()
          share = turn()
          spent = spent + os.clock() - since
          ngx.sleep(0.001)
        end
        ngx.timer.at(0.01, function() turn() end)
        ngx.sleep(0.1)
        ngx.say(("spent %.0f ns"):format(1e9 * spent))
        ngx.say(share)
      }
    }
  }
}
CONF

recorded()
{
    export JSPROF_LOOP=1 JSPROF_TASKS=1 LD_LIBRARY_PATH="${library:-/usr/lib}"
    serving nginx -e stderr -p "$SCRATCH" -c "$SCRATCH/nginx.conf" >"$SCRATCH/log" 2>&1 &
    server=$!
    unset LD_LIBRARY_PATH
    wait_for "$SCRATCH/socket" &&
        curl -sS --unix-socket "$SCRATCH/socket" http://localhost/ >"$SCRATCH/out"
    kill -QUIT $server
    wait $server
    cat "$SCRATCH/log" "$SCRATCH/out"
    [ -s "$SCRATCH/out" ]
}

# The handler's coroutine is resumed once for each sleep and once to begin. A timer's function
# runs in a coroutine of its own.
resumes_are_marks()
{
    "$JSPROF_TOOL" list --messages --csv "$SCRATCH/cap" >"$SCRATCH/list" || return 1
    cat "$SCRATCH/list"
    spent=$(sed -n 's/^spent \([0-9]*\) ns/\1/p' "$SCRATCH/out")
    awk -F '[,"]+' -v spent="$spent" '
        $2 == "loop" && $3 == "ngx_http_lua_module resume" && $4 ~ /content_by_lua/ {
            $5 == 42 && $6 > 0.98 * spent ? handler++ : $5 == 1 ? timer++ : other++ }
        $2 == "loop" && $3 == "poll" && $4 == "nginx" { waits += $5 }
        END { print "handler", handler, "timer", timer, "waits", waits
              exit !(handler == 1 && timer == 1 && !other && waits > 40) }' "$SCRATCH/list"
}

# The handler's task runs as often, and made that of the timer, which runs once; the loop has turns.
runs_are_tasks()
{
    "$JSPROF_TOOL" loop --limit 0 --csv "$SCRATCH/cap" | tr -d '"' | tee "$SCRATCH/loop"
    info_has 'tasks .* [1-9][0-9,]* turns' &&
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            /content_by_lua/ && $at["runs"] == 42 { handler++; next }
            /content_by_lua/ { $at["runs"] == 1 ? timer++ : other++ }
            END { print "handler", handler, "timer", timer
                  exit !(handler == 1 && timer == 1 && !other) }' "$SCRATCH/loop"
}

check 'nginx answers' recorded
check_real "$SCRATCH/out"
check 'each resume is a mark' resumes_are_marks
check 'each resume is a run of a task' runs_are_tasks
finish
