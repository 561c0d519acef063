#!/bin/sh
# nginx_workers.sh - nginx with a master process and workers: each worker listens and is recorded
# alone, also those that follow after a new configuration was loaded, and each state has a file.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib-nginx.sh"
unset JSPROF JSPROF_CONTROL
export XDG_RUNTIME_DIR="$SCRATCH/run"
mkdir -m 700 "$XDG_RUNTIME_DIR"

# A worker works by its own timer, so that each of them does.
nginx_conf 'worker_processes 2;' <<CONF
  init_worker_by_lua_block {
    ngx.timer.every(0.01, function() turn() end)
    local file = io.open("$SCRATCH/workers", "a")
    file:write(ngx.worker.pid(), "\n")
    file:close()
  }
CONF

# Wait for so many workers since the begin; the new ones are $workers.
workers_are() # COUNT
{
    for _ in $(seq 600); do
        [ -f "$SCRATCH/workers" ] && [ "$(wc -l <"$SCRATCH/workers")" = "$1" ] && break
        kill -0 $server || break
        sleep 0.1
    done
    workers=$(tail -n 2 "$SCRATCH/workers" | tr '\n' ' ')
    echo "workers $workers"
    [ "$(wc -l <"$SCRATCH/workers")" = "$1" ]
}

listen_alone()
{
    for worker in $workers; do
        for _ in $(seq 300); do
            "$JSPROF_TOOL" ps --csv | grep "^$worker,[0-9]*,ready,1," && break
            sleep 0.1
        done
        rm -f "$SCRATCH/cap"
        "$JSPROF_TOOL" record --quiet --seconds 1 -o "$SCRATCH/cap" "$worker" && whole &&
            c_stacks_are_whole && "$JSPROF_TOOL" info "$SCRATCH/cap" >"$SCRATCH/info" &&
            grep -q "$worker" "$SCRATCH/info" || return 1
        listen_n=$(stacks | grep -Ec "work ${any}(long|short) ")
        echo "$listen_n samples in the worker's Lua"
        [ "$listen_n" -ge 1 ] || return 1
    done
}

ends()
{
    kill -QUIT $server
    wait $server
    cat "$SCRATCH/log"
    [ "$("$JSPROF_TOOL" ps --csv | wc -l)" -le 1 ]
}

# Each process has the workers' turns, but for the master's.
each_has_a_file()
{
    find "$SCRATCH/in" -type f | sort >"$SCRATCH/files"
    cat "$SCRATCH/files"
    for each in $(cat "$SCRATCH/workers"); do
        each_has=0
        for each_file in "$SCRATCH/in/cap.$each"*; do
            "$JSPROF_TOOL" report --csv --limit 0 "$each_file" | grep -q turns.lua && each_has=1
        done
        [ $each_has = 1 ] || { echo "nothing of worker $each"; return 1; }
    done
    # The master has a state for each configuration.
    [ -f "$SCRATCH/in/cap" ] && "$JSPROF_TOOL" info "$SCRATCH/in/cap" >/dev/null &&
        [ "$(find "$SCRATCH/in" -name "cap.$server*" | wc -l)" = 1 ] &&
        grep -q "this Lua state is recorded into .*/cap.$server, later" "$SCRATCH/log"
}

# Wait until a file of each of $workers has its turns.
have_turns()
{
    for worker in $workers; do
        for _ in $(seq 600); do
            for file in "$SCRATCH/in/cap.$worker"*; do
                "$JSPROF_TOOL" report --csv --limit 0 "$file" 2>/dev/null |
                    grep -q turns.lua && break 2
            done
            sleep 0.1
        done
        "$JSPROF_TOOL" report --csv --limit 0 "$file" | grep -q turns.lua || return 1
    done
}

serve() # VARIABLE=VALUE
{
    rm -f "$SCRATCH/workers"
    (export "$1" JSPROF_CHILDREN=1 JSPROF_CLOCK=wall && nginx_serving) >"$SCRATCH/log" 2>&1 &
    server=$!
}

serving()
{
    exec env LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULE" "$@"
}

serve JSPROF_CONTROL=1
check 'there are two workers' workers_are 2
check 'each is recorded alone' listen_alone
kill -HUP $server
check 'two others take their place' workers_are 4
check 'each of these is recorded alone' listen_alone
check 'after the end nobody listens' ends

mkdir "$SCRATCH/in"
serve JSPROF="$SCRATCH/in/cap"
check 'there are two workers that record' workers_are 2
check 'their files have turns' have_turns
kill -HUP $server
check 'two others follow' workers_are 4
check 'and their files, too' have_turns
check 'the server ends' ends
check 'each has a file of its own' each_has_a_file
finish
