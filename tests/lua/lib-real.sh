# lib-real.sh - what the tests share that record a program of the distribution which has a Lua;
# sourced, not run. The program makes turns of scripts/turns.lua and prints, or answers, what
# share of their time `long` took by its own clock.
#
# SPDX-License-Identifier: MIT

. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lua/lib.sh"

# Print the version of the shared Lua of a program, which depends on the distribution.
lua_of() # FILE VERSION-WITHOUT-ONE
{
    lua_of_file=$(ldd "$1" 2>/dev/null | sed -n 's/.*liblua\(5[.][0-9]\)[^ ]* =.*/\1/p' | head -n 1)
    echo "${lua_of_file:-$2}"
}

# A missing program is a skip.
needs() # VERSION PACKAGE FILE...
{
    VERSION=$1
    MODULE=$B/lib/lua/$VERSION/jsprof.so
    needs_package=$2
    shift 2
    [ -f "$MODULE" ] || MISSING="$MISSING liblua$VERSION-dev"
    for file; do
        [ -e "$file" ] || { MISSING="$MISSING $needs_package"; break; }
    done
    [ -z "$MISSING" ] && return
    echo "SKIP: needs$MISSING"
    exit 77
}

# The module is preloaded, and the variables ask for a capture.
preloaded() # COMMAND...
{
    JSPROF=$SCRATCH/cap LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULE" "$@"
}

# The same for a server: with `&`, its process is $!.
serving() # COMMAND...
{
    exec env JSPROF="$SCRATCH/cap" LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULE" "$@"
}

wait_for() # FILE
{
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -e "$1" ] && return
        sleep 0.5
    done
    echo "there is no $1"
    return 1
}

# The share of time below `long` against the last number of the program's output.
as_it_says() # FILE
{
    want=$(grep -Eo '[0-9]+\.[0-9]+' "$1" | tail -n 1)
    share_near "${want:-0}" "work ${any}long " "work ${any}(long|short) "
}

c_stacks_are_whole()
{
    whole_part=$("$JSPROF_TOOL" info "$SCRATCH/cap" |
        sed -n 's/^ *C stacks *\([0-9.]*\)% whole.*/\1/p')
    echo "$whole_part% are whole"
    awk -v part="$whole_part" 'BEGIN { exit !(part >= 99) }'
}

# What Lua has, among the ten functions with most time of their own, has a name; one without is
# there by chance, with 3% at most.
top_ten_has_names()
{
    "$JSPROF_TOOL" report --csv "$SCRATCH/cap" | sed -n 2,11p >"$SCRATCH/top"
    cat "$SCRATCH/top"
    awk -F , '{ all += $(NF - 3) }
        /^"?(function|C function|[?]) [(]/ { without += $(NF - 3) }
        END { exit !(all > 0) || without > 0.03 * all }' "$SCRATCH/top"
}

# The parts of the work are there, too.
top_ten_has_turns()
{
    top_ten_has_names && grep -q 'table.sort' "$SCRATCH/top" &&
        grep -q 'is_longer (.*turns.lua:8)' "$SCRATCH/top" &&
        grep -q 'sorted (.*turns.lua:19)' "$SCRATCH/top"
}

# With the capture in place and the program's output in this file.
check_real() # FILE
{
    check 'the capture is complete' whole
    check 'long and short have the shares that the program says' as_it_says "$1"
    check 'the C stacks are whole' c_stacks_are_whole
    check 'the top ten have names' top_ten_has_turns
    echo "long: $(as_it_says "$1"); $whole_part % of C stacks whole"
}
