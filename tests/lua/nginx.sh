#!/bin/sh
# nginx.sh - nginx with its Lua module, as it is: a handler that sleeps between its turns is
# recorded by the preloaded module. nginx loads its Lua later.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib-nginx.sh"

nginx_conf 'master_process off;' <<CONF
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
CONF

recorded()
{
    export JSPROF_LOOP=1 JSPROF_TASKS=1
    nginx_serving >"$SCRATCH/log" 2>&1 &
    server=$!
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
