#!/bin/sh
# lark/profile.sh - what a capture of a Lark program says is what the program did:
# shares as its own clock counted them, C between two Lark functions in its place.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

# "spread N LARGEST": samples of unequal time are worth N equal ones, and the largest has
# that share of all.
spread() # CAPTURE
{
    "$JSPROF_TOOL" dump "$1" | awk '
        / SAMPLE / && match($0, /cpu_ns [0-9]+/) {
            ns = substr($0, RSTART + 7, RLENGTH - 7) + 0
            sum += ns; squares += ns * ns; most = ns > most ? ns : most
        }
        END { if (sum) printf "spread %.1f %.6f\n", sum * sum / squares, most / sum }'
}

# Total share of each function beside the program's own "share NAME PERCENT": within 4.42
# standard errors (chance exceeds that once in 100,000), for so many samples, half a point for the
# clock's own cost, and one sample: if others had the processor, it may count much time.
shares_agree() # CAPTURE OUTPUT
{
    spread "$1" >>"$2"
    "$JSPROF_TOOL" report --csv --limit 0 "$1" >"$SCRATCH/report.csv" || return 1
    awk -F '[ ,]' '
        FNR == NR && /^share / { own[$2] = $3 / 100; next }
        FNR == NR && /^spread / { worth = $2; largest = $3 }
        FNR == NR { next }
        { gsub(/"/, ""); name = $1; time[name] = $(NF - 2); n[name] = $NF }
        END {
            all = time["main"]
            if (all <= 0 || worth <= 0) { print "no main in the report"; exit 1 }
            for (name in own) {
                share = time[name] / all
                error = sqrt(own[name] * (1 - own[name]) / worth)
                off = share - own[name]
                line = sprintf("%s: %.4f, the program says %.4f +- %.4f (%d samples, worth %d)",
                               name, share, own[name], error, n["main"], worth)
                print line
                most = 4.42 * error + 0.005 + largest
                if (off > most || off < -most) bad = 1
                seen++
            }
            exit bad || seen != 4
        }' "$2" "$SCRATCH/report.csv"
}

profile_shares() # NAME SCRIPT OPTION...
{
    shares_name=$1
    shares_script=$2
    shift 2
    "$LARK" --profile-output="$SCRATCH/$shares_name.cap" --jit-stats \
        "$@" "$shares_script" 1.5 \
        >"$SCRATCH/$shares_name.txt" 2>"$SCRATCH/$shares_name.err" &&
        shares_agree "$SCRATCH/$shares_name.cap" "$SCRATCH/$shares_name.txt"
}

check 'shares are what the program counts, interpreted' \
    profile_shares plain "$PROGRAMS/shares.lark" --jit=off
cat "$SCRATCH/check.out"
check 'shares are what the program counts, compiled' \
    profile_shares native "$PROGRAMS/shares.lark"
cat "$SCRATCH/check.out"
# Room for the script and one function: each that is called takes the place of another.
check 'shares are what the program counts, while code memory is reused' \
    profile_shares reused "$DATA/reuse.lark" --jit-threshold=1 --jit-cache-bytes=8000
cat "$SCRATCH/check.out"
check 'and it was reused' grep -E ' [0-9]{3,} discarded' "$SCRATCH/reused.err"
cat "$SCRATCH/check.out"
check 'every expiration is accounted for' sh -c \
    "'$JSPROF_TOOL' info '$SCRATCH/native.cap' |
     grep -q ': adds up, and the file holds them all'"

# Every stack, root to leaf, without the host's own C functions: one a line. What is
# tagged in the dump is Lark's: functions, native code, builtins, collections.
stacks() # CAPTURE
{
    "$JSPROF_TOOL" dump "$1" | awk '
        / SAMPLE / { if (inside) print stack; stack = ""; inside = 1; next }
        length($1) != 16 { if (inside) print stack; inside = 0 }
        inside && $1 ~ /^e0000000/ { stack = $2 (stack == "" ? "" : " " stack) }
        END { if (inside) print stack }'
}

# What quicksort.lark can have on its stack. A stack in another order, or with a hole
# in it, is none of these.
possible='compilation|main( (quicksort( quicksort)*( partition( ascending| swap)?)?'
possible="$possible|is_sorted( len| ascending| by_digits( digit_sum)?)?"
possible="$possible|sort( by_digits( digit_sum)?)?|map( fn)?"
possible="$possible|random|push|print|args|len|int))?"
possible="^($possible( garbage| compilation)?)?\$"

all_possible() # NAME OPTION...
{
    possible_name=$1
    shift
    "$LARK" --profile-output="$SCRATCH/sort.cap" --profile-clock=wall --profile-hz=4000 \
        "$@" \
        "$PROGRAMS/quicksort.lark" 30000 >/dev/null || return 1
    stacks "$SCRATCH/sort.cap" | sed 's/\[no$//; s/ *\[waiting$//' >"$SCRATCH/stacks.txt"
    grep -Ev "$possible" "$SCRATCH/stacks.txt" && return 1
    # Lark, C, Lark: the callback that the builtin sort called.
    called_back=$(grep -c '^main sort by_digits digit_sum' "$SCRATCH/stacks.txt")
    echo "$(wc -l <"$SCRATCH/stacks.txt") stacks, $called_back in a callback of sort"
    [ "$called_back" -ge 30 ]
}
check 'every stack is possible, interpreted' all_possible plain --jit=off
cat "$SCRATCH/check.out"
check 'every stack is possible, compiled' all_possible native
cat "$SCRATCH/check.out"
check 'every stack is possible, compiled at once' all_possible eager --jit-threshold=1
cat "$SCRATCH/check.out"
check 'every stack is possible, compiled and walked without rows' \
    all_possible pointer --jit-threshold=1 --jit-rows=off
cat "$SCRATCH/check.out"
check 'every stack is possible, while code memory is reused' \
    all_possible reused --jit-threshold=1 --jit-cache-bytes=9000
cat "$SCRATCH/check.out"

# Most of this program's time is calls; a stack that lost one of them shows. Half a
# second has six times as many stacks as are wanted.
turns_kept() # OPTION...
{
    "$LARK" --profile-output="$SCRATCH/turns.cap" --profile-clock=wall --profile-hz=10000 \
        "$@" "$DATA/turns.lark" 0.5 >/dev/null || return 1
    stacks "$SCRATCH/turns.cap" | sed 's/\[no$//; s/ *\[waiting$//' >"$SCRATCH/stacks.txt"
    turns='main( (clock|float|args|ping( pong ping)*( pong)?))?( compilation)?'
    grep -Ev "^($turns|compilation)?\$" "$SCRATCH/stacks.txt" && return 1
    [ "$(grep -c 'ping pong ping' "$SCRATCH/stacks.txt")" -ge 300 ] && runners_kept
}

# The C function that runs a Lark function is right outside of it, wherever in its
# prologue or epilogue it was.
runners_kept()
{
    "$JSPROF_TOOL" dump "$SCRATCH/turns.cap" | awk '
        length($1) != 16 { bad += inside && sample; sample = / SAMPLE /; inside = 0 }
        inside && $2 != "lark_jit_run" && $2 != "lark_run_function" { print; bad++ }
        inside { good++ }
        { inside = $1 ~ /^e0000000/ && ($2 == "ping" || $2 == "pong") }
        END {
            printf "%d run by what runs them, %d not\n", good - bad, bad
            exit bad || good < 1000
        }'
}
check 'functions that take turns do so in every stack, interpreted' turns_kept --jit=off
check 'functions that take turns do so in every stack, compiled' turns_kept --jit-threshold=1
check 'functions that take turns do so in every stack, compiled and walked without rows' \
    turns_kept --jit-threshold=1 --jit-rows=off
cat "$SCRATCH/check.out"

lines_known() # OPTION
{
    "$LARK" --profile-output="$SCRATCH/lines.cap" "$1" "$PROGRAMS/quicksort.lark" 100000 \
        >/dev/null || return 1
    "$JSPROF_TOOL" report --limit 0 "$SCRATCH/lines.cap" | grep 'digit_sum' |
        grep -Eq ':4[234] '
}
check "the hottest line of digit_sum is one of its loop's, interpreted" \
    lines_known --jit=off
check "the hottest line of digit_sum is one of its loop's, compiled" lines_known --jit=on

kind_is() # KIND OPTION
{
    "$LARK" --profile-output="$SCRATCH/kind.cap" "$2" \
        "$PROGRAMS/fib.lark" 32 >/dev/null &&
        "$JSPROF_TOOL" report --csv --limit 0 "$SCRATCH/kind.cap" >"$SCRATCH/kind.csv" &&
        grep -q "^\"*fib (.*,$1," "$SCRATCH/kind.csv"
}
check 'native code is shown as such' kind_is jit --jit=on
check 'interpreted code is shown as such' kind_is vm --jit=off

loop_hidden()
{
    "$JSPROF_TOOL" tree --min 0 "$SCRATCH/turns.cap" | grep -E ' lark_(operate_call|jit_run)' &&
        return 1
    "$JSPROF_TOOL" tree --min 0 --native "$SCRATCH/turns.cap" | grep -q ' lark_jit_run'
}
check "what is between two Lark functions is shown only when asked for" loop_hidden

# An error ends the program, not the capture.
printf 'fn spin(n) { for i = 0, n { i; } error("end"); }\nspin(20000000);\n' \
    >"$SCRATCH/fails.lark"
fails_recorded()
{
    "$LARK" --profile-output="$SCRATCH/fails.cap" "$SCRATCH/fails.lark" && return 1
    "$JSPROF_TOOL" report "$SCRATCH/fails.cap" | grep -q 'spin ('
}
check 'a program that fails has a whole capture' fails_recorded
finish
