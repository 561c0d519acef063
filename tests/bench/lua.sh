#!/bin/sh
# lua.sh - the step `lua` of tests/bench/run: what sampling costs Lua programs, in turns with
# the plain interpreter in one process, beside a count hook and LuaJIT's own profiler; what
# exact calls cost; how near the shares are to the truth, beside the same two.
#
# SPDX-License-Identifier: MIT
#
# LUA_BENCH='5.4 jit': these versions only.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
case $B in
/*) ;;
*) B=$(pwd)/$B ;;
esac
work=$1
CAP=$work/lua.cap
export CAP
tab=$(printf '\t')
if [ -n "${QUICK:-}" ]; then
    rounds=5 peer_rounds=2 turn=0.06 runs=4 peer_runs=2 seconds=0.25
else
    rounds=25 peer_rounds=4 turn=0.12 runs=20 peer_runs=5 seconds=0.5
fi

# Median and quartiles of the ratios; does the 95 % interval of the median hold the limit?
judge() # LIMIT (0: none)
{
    awk '{ print $2 / $1 }' "$work/turns" | sort -n | awk -v limit="$1" '
        { r[NR] = $1 }
        function at(p, i, low) {
            i = 1 + (NR - 1) * p
            low = int(i)
            return r[low] + (i - low) * (r[low + (i > low)] - r[low])
        }
        END {
            m = at(0.5); low = at(0.25); high = at(0.75)
            off = 1.57 * (high - low) / sqrt(NR)
            holds = !limit ? "-" : m + off <= limit ? "yes" : m - off > limit ? "NO" : "noise"
            printf "%.3fx (%.3f..%.3f)\t%s", m, low, high, holds
        }'
}

turns() # PROFILER ROUNDS PROGRAM ARG
{
    "$lua" "$here/lua/turns.lua" "$1" "$2" "$turn" "$root/examples/lua/$3.lua" "$4" \
        >"$work/turns"
}

peer() # PROFILER PROGRAM ARG: its median only
{
    turns "$1" "$peer_rounds" "$2" "$3"
    judge 0 | sed 's/ .*//'
}

program() # NAME ARG
{
    turns sample "$rounds" "$1" "$2"
    measured=$(judge 1.01)
    around=$(sort -n -k 3 "$work/turns" | awk '{ t[NR] = $3 }
        END { printf "%.1f", t[int((NR + 1) / 2)] * 1000 }')
    if [ "$version" = jit ]; then
        beside="luajit -jp $(peer jp "$1" "$2")"
    else
        beside="count hook $(peer hook "$1" "$2")"
    fi
    printf 'row\t%s\t%s\t%s\t%s\t%s\n' "Lua $version, $1: sampled / plain" '<= 1.01x' \
        "${measured%$tab*}" "$beside; start and stop $around ms" "${measured#*$tab}"
}

# What the profiler says of shares.lua: worst error over chance, worst error, which, holds.
shares() # PROFILER RUNS
{
    rm -f "$CAP".*
    "$lua" "$here/lua/shares.lua" "$1" "$2" "$seconds" >"$work/truth"
    {
        cat "$work/truth"
        i=1
        while [ -f "$CAP.$i" ]; do
            echo "run $i"
            "$B/bin/jsprof" dump "$CAP.$i"
            i=$((i + 1))
        done
    } | awk -v verbose="${VERBOSE:-}" -f "$here/lua/shares.awk"
}

field() # N ROW
{
    printf '%s\n' "$2" | cut -f "$1"
}

# The CPU clock rides the scheduler's tick, so only the wall clock is judged.
all_shares()
{
    ours=$(shares wall "$runs")
    if [ "$version" = jit ]; then
        peers="luajit -jp off by $(field 2 "$(shares jp "$peer_runs")")"
    else
        peers="count hook off by $(field 2 "$(shares hook "$peer_runs")")"
    fi
    printf 'row\t%s\t%s\t%s\t%s\t%s\n' "Lua $version: worst of 4 shares, wall clock" \
        '<= 1.2x chance' "$(field 1 "$ours")" "off by $(field 2 "$ours"); $peers" \
        "$(field 4 "$ours")"
    ours=$(shares cpu "$peer_runs")
    printf 'row\t%s\t-\t%s\t%s\t-\n' "  the same, CPU clock" "$(field 1 "$ours")" \
        "off by $(field 2 "$ours")"
}

for version in ${LUA_BENCH:-5.1 5.2 5.3 5.4 jit}; do
    lua=/usr/bin/lua$version
    if [ ! -x "$B/bin/jsprof-lua$version" ] || [ ! -x "$lua" ]; then
        printf 'note\tabsent: Lua %s\n' "$version"
        continue
    fi
    LUA_CPATH="$B/lib/lua/$version/?.so"
    export LUA_CPATH
    faster=1
    [ "$version" = jit ] && faster=10
    program fib $((faster > 1 ? 30 : 26))
    program trees $((faster > 1 ? 11 : 10))
    program nbody $((4000 * faster))
    program strings $((6 * (faster > 1 ? 3 : 1)))
    program ring $((200 * faster))
    turns calls "$peer_rounds" fib 22
    measured=$(judge 0)
    beside='compiles nothing meanwhile'
    [ "$version" = jit ] || beside="count hook $(peer hook fib 22)"
    printf 'row\t%s\t-\t%s\t%s\t-\n' "Lua $version, fib: exact calls / plain" \
        "${measured%$tab*}" "$beside"
    all_shares
done
