#!/bin/sh
# lua.sh - the step `lua` of tests/bench/run: what sampling costs Lua programs, in turns with
# the plain interpreter in one process, beside plain against plain, a count hook and LuaJIT's
# own profiler; what exact calls cost; how near the shares are to the truth, beside the same
# two.
#
# SPDX-License-Identifier: MIT
#
# LUA_BENCH='5.4 jit': these versions only. LUA_PROGRAMS='trees ring': sampling of these only;
# "shares" among them: the shares, too; "whole": whole processes; "sources": whole processes with
# timers and with the looker; "prices": exact calls and allocations. LUA_ROUNDS=14: so many rounds
# of whole processes.
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
if [ -n "${QUICK:-}" ]; then
    pairs=10 peer_rounds=2 turn=0.06 runs=4 peer_runs=2 seconds=0.25 processes=2 least=2 most=2
    whole_pairs=8 whole_size=60000
else
    pairs=40 peer_rounds=4 turn=0.12 runs=80 peer_runs=5 seconds=0.5 processes=7 least=6 most=16
    whole_pairs=20 whole_size=1000000
fi
whole_pairs=${LUA_ROUNDS:-$whole_pairs}

# Median and quartiles of the ratios: printed, not judged.
ratios()
{
    awk '{ print $2 / $1 }' "$work/turns" | sort -n | awk '
        { r[NR] = $1 }
        function at(p, i, low) {
            i = 1 + (NR - 1) * p
            low = int(i)
            return r[low] + (i - low) * (r[low + (i > low)] - r[low])
        }
        END { printf "%.3fx (%.3f..%.3f)", at(0.5), at(0.25), at(0.75) }'
}

turns() # PROFILER ROUNDS PROGRAM ARG
{
    "$lua" "$here/lua/turns.lua" "$1" "$2" "$turn" "$root/examples/lua/$3.lua" "$4" \
        >"$work/turns"
}

peer() # PROFILER PROGRAM ARG: its median only
{
    turns "$1" "$peer_rounds" "$2" "$3"
    ratios | sed 's/ .*//'
}

rounds()
{
    awk -f "$here/lua/rounds.awk" "$work/pairs"
}

is_known()
{
    rounds | awk '{ exit !($3 - $2 <= 0.003) }'
}

# Six processes or more, for where memory lies differs; so many that it is known to a third
# of the budget, sixteen at most. What the other threads took comes on top of what the thread's
# own time says, and is judged with it. Where plain beside plain is off by half of the
# budget, or two thirds of the rounds were disturbed, nothing can be said.
program() # NAME ARG
{
    : >"$work/pairs"
    part=0
    while [ $part -lt "$least" ] || { [ $part -lt "$most" ] && ! is_known; }; do
        part=$((part + 1))
        "$lua" "$here/lua/pairs.lua" "$pairs" 0.02 $part "$root/examples/lua/$1.lua" "$2" \
            >>"$work/pairs"
    done
    if [ "$version" = jit ]; then
        beside="luajit -jp $(peer jp "$1" "$2")"
    else
        beside="count hook $(peer hook "$1" "$2")"
    fi
    other=$(awk '/^other/ { s += $2; n++ } END { print s / n }' "$work/pairs")
    around=$(awk '/^around/ { s += $2; n++ } END { printf "%.1f", 1000 * s / n }' "$work/pairs")
    echo "$(rounds) $other" | awk -v name="Lua $version, $1: sampled / plain" \
        -v beside="$beside" -v around="$around" '
        {
            all = 1 + $11; limit = 1.01
            holds = $3 * all <= limit ? "yes" : $2 * all > limit ? "NO" : "noise"
            if ($5 > 1 + (limit - 1) / 2 || $6 < 1 - (limit - 1) / 2 || $9 * 3 < $10)
                holds = "noise"
            printf "row\t%s\t<= 1.01x\t%.4fx (%.4f..%.4f)\t", name, $1 * all, $2 * all,
                $3 * all
            printf "own thread %.4f, others %.4f; all rounds together %.4f; ", $1, $11, $7
            printf "plain / plain %.4f (%.4f..%.4f); %s; ", $4, $5, $6, beside
            printf "start and stop %s ms; %d of %d rounds in %d processes\t%s\n", around, $9,
                $10, $8, holds
        }'
}

# CPU seconds of a command, user and system.
cpu_of()
(
    "$@" >/dev/null
    times >"$work/times" # not into a pipe: that would be another shell's
    awk 'NR == 2 { split($1 "m" $2, t, "[ms]"); print 60 * (t[1] + t[4]) + t[2] + t[5] }' \
        "$work/times"
)

# Whole processes, with all that turns leave out. Beside it the same that records nothing, for
# some interpreters are not built from their library, and the interpreter with a thread that
# does nothing, which is what a thread costs the allocator.
whole_processes() # PROGRAM ARG
{
    : >"$work/turns"
    : >"$work/threads"
    : >"$work/idle"
    i=0
    while [ $i -lt "$processes" ]; do
        set -- "$1" "$2" "$(cpu_of "$lua" "$root/examples/lua/$1.lua" "$2")"
        echo "$3 $(cpu_of "$B/bin/jsprof-lua$version" --profile-output="$work/whole.cap" \
            "$root/examples/lua/$1.lua" "$2")" >>"$work/turns"
        echo "$3 $(cpu_of "$B/bin/jsprof-lua$version" "$root/examples/lua/$1.lua" "$2")" \
            >>"$work/idle"
        echo "$3 $(LD_PRELOAD=$work/thread.so cpu_of "$lua" "$root/examples/lua/$1.lua" "$2")" \
            >>"$work/threads"
        i=$((i + 1))
    done
    measured=$(ratios)
    mv "$work/idle" "$work/turns"
    idle=$(ratios)
    mv "$work/threads" "$work/turns"
    printf 'row\t%s\t-\t%s\t%s\t-\n' "  whole process, $1: jsprof-lua / lua" "$measured" \
        "recording nothing $idle; lua with an idle thread $(ratios)"
}

# Print a row for a line of `whole`: its median, the interval of that and the quartiles. The limit
# is that of runs of 2 s, so QUICK judges none.
whole_row() # NAME LIMIT LINE BESIDE
{
    echo "$3" | awk -v name="Lua $version: $1" -v limit="$2" -v beside="$4" \
        -v quick="${QUICK:+1}" '{
            holds = quick || limit == "-" ? "-" : $3 <= limit ? "yes" : $2 > limit ? "NO" : "noise"
            printf "row\t%s\t%s\t%.4fx (%.4f..%.4f)\t", name,
                limit == "-" ? "-" : "<= " limit "x", $1, $2, $3
            printf "quartiles %.4f..%.4f; %s\t%s\n", $4, $5, beside, holds }'
}

# What recording adds to a program that does nothing, or loads the module itself.
whole_nothing() # NAME CODE
{
    "$work/whole" $((4 * whole_pairs)) "$work/whole.cap" cpu - "$lua" -e "$2" \
        >"$work/whole.lines"
    awk -v name="Lua $version: $1" -v quick="${QUICK:+1}" '
        NR == 1 { ratio = $1 }
        NR == 3 {
            holds = quick ? "-" : $3 <= 1 ? "yes" : $2 > 1 ? "NO" : "noise"
            printf "row\t%s\t<= 1.0 ms\t", name
            printf "%.2f ms (%.2f..%.2f)\t", $1, $2, $3
            printf "quartiles %.2f..%.2f, user and system; ", $4, $5
            printf "%.2f times the process without it\t%s\n", ratio - 1, holds
        }' "$work/whole.lines"
}

# The interpreter is the same on both sides, except for the launcher.
whole_clock() # CLOCK LIMIT LAUNCHER PROGRAM ARG
{
    "$work/whole" "$whole_pairs" "$work/whole.cap" "$1" "$3" "$lua" \
        "$root/examples/lua/$4.lua" "$5" >"$work/whole.lines" || return
    elapsed=$(awk 'NR == 2 { printf "elapsed %.4f (%.4f..%.4f)", $1, $4, $5 }' "$work/whole.lines")
    whole_row "whole process, $1 / plain" "$2" "$(sed -n 1p "$work/whole.lines")" \
        "user and system, $whole_pairs rounds of $4; $elapsed"
    case $3 in
    -) ;;
    *.so)
        elapsed=$(awk 'NR == 5 { printf "elapsed %.4f (%.4f..%.4f)", $1, $4, $5 }' \
            "$work/whole.lines")
        whole_row '  the same timer, an empty handler / plain' - \
            "$(sed -n 4p "$work/whole.lines")" "user and system; $elapsed"
        whole_row '  recorded / the empty handler' - "$(sed -n 6p "$work/whole.lines")" \
            'user and system'
        ;;
    looker) whole_row "  the same with the looker" - "$(sed -n 4p "$work/whole.lines")" \
        "user and system; $(samples_of JSPROF_SOURCE=timer "$@") by timers, $(
        )$(samples_of JSPROF_SOURCE=looker "$@") by the looker" ;;
    *) whole_row "jsprof-lua that records nothing / lua" 1.01 \
        "$(sed -n 4p "$work/whole.lines")" "user and system" ;;
    esac
}

# How many samples that takes, because the price is theirs.
samples_of() # SOURCE CLOCK LIMIT LAUNCHER PROGRAM ARG
{
    env "$1" JSPROF_CLOCK="$2" JSPROF="$work/whole.cap" LUA_INIT="require 'jsprof'" \
        "$lua" "$root/examples/lua/$5.lua" "$6" >"$work/whole.out"
    "$B/bin/jsprof" info --csv "$work/whole.cap" | awk -F , '
        NR == 1 { while ($++column != "samples") continue }
        NR == 2 { print $column " samples" }'
}

# Links of jsprof-lua whose code lies in other places, for an interpreter's time depends on that by
# percents: each has another number of bytes before it that nothing executes.
relinks()
{
    package=lua$version
    [ "$version" = jit ] && package=luajit
    library=$(pkg-config --libs "$package" | sed 's/.*-l/lib/; s/ *$//').a
    rm -rf "$work/links"
    mkdir "$work/links"
    i=0
    while [ $i -lt 16 ]; do
        echo ".text; .skip $((16 + i * 1040)); .section .note.GNU-stack" |
            "$CC" -x assembler -c -o "$work/before.o" -
        # shellcheck disable=SC2046
        "$CC" -o "$work/links/$i" "$work/before.o" \
            $(find "$B/obj/bindings/lua/$version" -name '*.o' |
                grep -Ev '/(api_module|preload|launch)\.o$') "$B/lib/libjsprof.a" \
            -Wl,-E -Wl,--whole-archive "$("$CC" -print-file-name="$library")" \
            -Wl,--no-whole-archive -pthread -ldl -lm || return
        i=$((i + 1))
    done
}

# Of processes of some seconds, and of one that does nothing: what opening and closing takes. The
# floor of the latter, in the same run, is a process of this Lua that only starts. nbody has little
# memory, so its time differs from process to process six times less than that of trees.
whole() # ARG OF nbody
{
    relinks
    whole_clock cpu 1.01 "$work/links" nbody "$1"
    whole_clock wall 1.03 "$work/empty.so" nbody "$1"
    whole_nothing 'require, open and close' ''
    whole_nothing '  open and close' 'require "jsprof"'
}

# A row with a limit for the median, judged by its quartiles.
judged() # NAME LIMIT BESIDE
{
    ratios | awk -v name="$1" -v limit="$2" -v beside="$3" '{
        split($0, r, /[^0-9.]+|\.\./)
        holds = r[3] <= limit ? "yes" : r[2] > limit ? "NO" : "noise"
        printf "row\t%s\t<= %sx\t%s\t%s\t%s\n", name, limit, $0, beside, holds }'
}

# What exact calls cost beside an empty hook on calls and returns, which is the least that Lua
# allows, and what sampling allocations, too, costs beside samples. Times need the clock twice a
# call: the row "a hook that reads the clock" is what Lua and the processor take for that.
prices()
{
    if [ "$version" != jit ]; then
        turns count "$peer_rounds" fib 22
        judged "Lua $version, fib: how often / an empty hook" 1.5 'on calls and returns'
        turns timed "$peer_rounds" fib 22
        printf 'row\t%s\t-\t%s\t%s\t-\n' "  and how long / an empty hook" "$(ratios)" \
            'the goal is 1.5x'
        turns clock "$peer_rounds" fib 22
        printf 'row\t%s\t-\t%s\t%s\t-\n' "  a hook that reads the clock / an empty hook" \
            "$(ratios)" 'what nothing that measures times can be below'
        turns edges "$peer_rounds" fib 22
        printf 'row\t%s\t-\t%s\t%s\t-\n' "  and from where / an empty hook" "$(ratios)" \
            'what jsprof-lua --profile-mode=calls counts'
    fi
    turns alloc "$peer_rounds" trees $((faster > 1 ? 9 : 8))
    printf 'row\t%s\t-\t%s\t%s\t-\n' "Lua $version, trees: allocations too / samples" \
        "$(ratios)" 'one in each 512 KiB'
}

# A Lua module for pairs.lua and turns.lua.
clocks()
{
    package=lua$version
    [ "$version" = jit ] && package=luajit
    mkdir -p "$work/$version"
    # shellcheck disable=SC2046
    "$CC" -D_GNU_SOURCE -O2 -shared -fPIC $(pkg-config --cflags "$package") \
        -o "$work/$version/clocks.so" "$here/lua/clocks.c"
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

"$CC" -O2 -shared -fPIC -pthread -o "$work/thread.so" "$here/lua/thread.c"
"$CC" -D_GNU_SOURCE -O2 -shared -fPIC -o "$work/empty.so" "$here/peers/empty.c"
"$CC" -D_GNU_SOURCE -O2 -o "$work/whole" "$here/lua/whole.c" -lm
for version in ${LUA_BENCH:-5.1 5.2 5.3 5.4 jit}; do
    lua=/usr/bin/lua$version
    if [ ! -x "$B/bin/jsprof-lua$version" ] || [ ! -x "$lua" ]; then
        printf 'note\tabsent: Lua %s\n' "$version"
        continue
    fi
    LUA_CPATH="$B/lib/lua/$version/?.so;$work/$version/?.so"
    export LUA_CPATH
    clocks
    faster=1
    [ "$version" = jit ] && faster=10
    for name in ${LUA_PROGRAMS:-fib trees nbody strings ring}; do
        case $name in
        shares)
            all_shares
            continue
            ;;
        prices)
            prices
            continue
            ;;
        sources)
            whole_clock cpu 1.01 looker nbody $((whole_size * (faster > 1 ? 6 : 1)))
            whole_clock wall 1.03 looker nbody $((whole_size * (faster > 1 ? 6 : 1)))
            continue
            ;;
        whole)
            whole $((whole_size * (faster > 1 ? 6 : 1)))
            continue
            ;;
        fib) argument=$((faster > 1 ? 27 : 22)) ;;
        trees) argument=$((faster > 1 ? 9 : 8)) ;;
        nbody) argument=$((1000 * faster)) ;;
        strings) argument=$((2 * (faster > 1 ? 3 : 1))) ;;
        ring) argument=$((50 * faster)) ;;
        esac
        program "$name" "$argument"
    done
    [ -z "${LUA_PROGRAMS:-}" ] || continue
    whole_processes trees $((faster > 1 ? 18 : 17))
    whole_processes fib $((faster > 1 ? 41 : 36))
    whole $((whole_size * (faster > 1 ? 6 : 1)))
    prices
    turns calls "$peer_rounds" fib 22
    measured=$(ratios)
    beside='compiles nothing meanwhile'
    [ "$version" = jit ] || beside="count hook $(peer hook fib 22)"
    printf 'row\t%s\t-\t%s\t%s\t-\n' "Lua $version, fib: exact calls / plain" \
        "$measured" "$beside"
    all_shares
done
