#!/bin/sh
# lua.sh - the step `lua` of tests/bench/run: what sampling costs Lua programs, in turns with
# the plain interpreter in one process, beside a count hook and LuaJIT's own profiler; what
# exact calls cost; how near the shares are to the truth.
#
# SPDX-License-Identifier: MIT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
case $B in
/*) ;;
*) B=$(pwd)/$B ;;
esac
CAP=$1/lua.cap
export CAP
tab=$(printf '\t')
rounds=${QUICK:+5}
rounds=${rounds:-15}
seconds=${QUICK:+1}
seconds=${seconds:-4}

# Median and quartiles of the ratios; does the 95 % interval of the median hold the limit?
judge() # LIMIT (0: none)
{
    awk '{ print $2 / $1 }' | sort -n | awk -v limit="$1" '
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
            printf "%.3fx (%.3f-%.3f)\t%s", m, low, high, holds
        }'
}

turns() # PROFILER PROGRAM ARG
{
    "$lua" "$here/lua/turns.lua" "$1" "$rounds" "$root/examples/lua/$2.lua" "$3"
}

peer() # PROFILER PROGRAM ARG: its median only
{
    turns "$@" | judge 0 | sed 's/ .*//'
}

program() # NAME ARG
{
    measured=$(turns sample "$1" "$2" | judge 1.01)
    beside="count hook $(peer hook "$1" "$2")"
    [ "$version" = jit ] && beside="luajit -jp $(peer jp "$1" "$2")"
    printf 'row\t%s\t%s\t%s\t%s\t%s\n' "Lua $version, $1: sampled / plain" '<= 1.01x' \
        "${measured%$tab*}" "$beside" "${measured#*$tab}"
}

# The largest error of a share, over what chance makes of as many independent samples.
shares()
{
    "$lua" "$here/lua/shares.lua" "$seconds" >"$1/truth"
    "$B/bin/jsprof" dump "$CAP" | awk '
        FNR == NR { truth[$1] = $2; all += $2; next }
        / SAMPLE / { if (n) count(); match($0, /weight [0-9]+/)
            w = substr($0, RSTART + 7, RLENGTH - 7); stack = ""; n++; next }
        { stack = stack $0 }
        function count(k) {
            for (k in truth)
                if (index(stack, "  " k " (")) { seen[k] += w; total += w; of++ }
        }
        END {
            count()
            for (k in truth) {
                p = truth[k] / all
                e = (seen[k] / total - p) / sqrt(p * (1 - p) / of)
                if (e < 0) e = -e
                if (e > worst) { worst = e; what = k }
            }
            printf "%.2f of chance\t%s, %d samples", worst, what, of
        }' "$1/truth" -
}

for version in 5.1 5.2 5.3 5.4 jit; do
    lua=/usr/bin/lua$version
    if [ ! -x "$B/bin/jsprof-lua$version" ] || [ ! -x "$lua" ]; then
        printf 'note\tabsent: Lua %s\n' "$version"
        continue
    fi
    LUA_CPATH="$B/lib/lua/$version/?.so"
    export LUA_CPATH
    faster=1
    [ "$version" = jit ] && faster=10
    program fib $((faster > 1 ? 35 : 29))
    program trees $((faster > 1 ? 15 : 12))
    program nbody $((60000 * faster))
    program strings $((40 * (faster > 1 ? 6 : 1)))
    program ring $((1000 * faster))
    measured=$(turns calls fib 25 | judge 0)
    printf 'row\t%s\t-\t%s\t%s\t-\n' "Lua $version, fib: exact calls / plain" \
        "${measured%$tab*}" "count hook $(peer hook fib 25)"
    measured=$(shares "$1")
    printf 'row\t%s\t-\t%s\t%s\t-\n' "Lua $version: worst of 4 shares" "${measured%$tab*}" \
        "${measured#*$tab}"
done
