#!/bin/sh
# redis.sh - redis, as it is, contains its Lua: the preloaded module says in a line that nothing is
# recorded, and the server runs scripts as without it.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib-real.sh"
needs 5.1 redis-tools /usr/bin/redis-check-rdb /usr/bin/redis-cli

# Debian's programs of redis are one, which behaves as its name says. The package redis-server
# would start a service.
ln -s /usr/bin/redis-check-rdb "$SCRATCH/redis-server"

answers()
{
    serving "$SCRATCH/redis-server" --port 0 --unixsocket "$SCRATCH/socket" --save '' \
        --dir "$SCRATCH" >"$SCRATCH/out" 2>"$SCRATCH/err" &
    server=$!
    wait_for "$SCRATCH/socket" &&
        answer=$(redis-cli -s "$SCRATCH/socket" eval \
            'local x = 0 for i = 1, 1000000 do x = x + i % 7 end return x' 0)
    kill $server
    wait $server
    cat "$SCRATCH/out" "$SCRATCH/err"
    [ "${answer:-}" = 2999998 ]
}

refused()
{
    cat "$SCRATCH/err"
    one_line "$SCRATCH/err" \
        'jsprof: nothing is recorded: Lua 5[.]1[.5]* is linked into redis-server itself' &&
        [ ! -e "$SCRATCH/cap" ]
}

check 'redis runs a script' answers
check 'it is refused in a line' refused
finish
