#!/bin/sh
# tshark.sh - tshark, as it is: a dissector in Lua is recorded by the preloaded module.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lua/lib-real.sh"
needs "$(lua_of /usr/bin/tshark 5.2)" tshark /usr/bin/tshark

cat >"$SCRATCH/script.lua" <<LUA
local turn = dofile("$SCRIPTS/turns.lua")
local turns = Proto("turns", "Turns")
function turns.dissector(buffer, packet)
  packet.cols.info = tostring(turn())
end
DissectorTable.get("udp.port"):add(4321, turns)
LUA

# A file of 40 packets to that port, of 4 bytes each.
{
    printf '\324\303\262\241\2\0\4\0\0\0\0\0\0\0\0\0\377\377\0\0\1\0\0\0'
    for i in $(seq 40); do
        printf '\1\0\0\0\0\0\0\0\56\0\0\0\56\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\10\0'
        printf '\105\0\0\40\0\1\0\0\100\21\0\0\177\0\0\1\177\0\0\1\4\322\20\341\0\14\0\0abcd'
    done
} >"$SCRATCH/packets.pcap"

# Since 4.4 it runs no script of root's.
as_user=
if [ "$(id -u)" = 0 ]; then
    chown -R 65534 "$SCRATCH"
    as_user='setpriv --reuid=65534 --regid=65534 --clear-groups'
fi

recorded()
{
    # shellcheck disable=SC2086
    HOME=$SCRATCH preloaded $as_user tshark -X "lua_script:$SCRATCH/script.lua" \
        -r "$SCRATCH/packets.pcap" >"$SCRATCH/out" 2>"$SCRATCH/err"
    recorded_status=$?
    cat "$SCRATCH/err"
    return $recorded_status
}

check 'tshark runs' recorded
check_real "$SCRATCH/out"
finish
