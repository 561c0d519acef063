#!/bin/sh
# profile.sh - a recorded GJS program runs as it would without, and its report names
# the functions that took the time, compiled and interpreted. LONG=1: every program interpreted.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

samples_of() # CAPTURE
{
    "$JSPROF_TOOL" info --csv "$1" 2>/dev/null | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "samples") at = i }
        NR == 2 { n = $at } END { print n + 0 }'
}

# Run a script with and without recording: same output and status, nothing lost. What
# a script prints does not depend on how long it burns.
record() # CAPTURE MILLISECONDS ARGS...
{
    record_cap=$1
    record_ms=$2
    shift 2
    BURN_MS=1 gjs-console "$@" >want.out 2>want.err
    echo $? >want.rc
    # Until so many samples have come; scripts burn elapsed time, of which they may get little. By
    # a timer: on a busy machine, [waiting for a processor] has a share, too.
    for record_times in 1 4 16; do
        JSPROF_SOURCE=timer BURN_MS=$((record_ms * record_times)) "$GJS" \
            --profile-clock="$clock" --profile-output="$record_cap" "$@" >got.out 2>got.err
        echo $? >got.rc
        [ "$(samples_of "$record_cap")" -lt $((record_ms / 10)) ] || break
    done
    for record_part in out err rc; do
        check "$*: $record_part is as without recording" \
            same_text want.$record_part got.$record_part
    done
    check "$*: the capture is whole" whole "$record_cap"
    "$JSPROF_TOOL" report --csv --limit=1000 "$record_cap" >report.csv || fail "no report"
}

# A function's share of all samples, in whole percent; its tiers are one function. Their
# times are of a busy machine: where one was not let run weighs most.
share() # self|total REGEX
{
    sed -E 's/^"([^"]*)",/\1\t/; t; s/^([^,]*),/\1\t/' report.csv | RE=$2 awk -F '\t' \
        -v column="$([ "$1" = self ] && echo 4 || echo 5)" '
        BEGIN { re = ENVIRON["RE"] }
        NR > 1 { split($2, v, ","); all += v[4]; if ($1 ~ re) mine += v[column] }
        END { printf "%.0f\n", all ? 100 * mine / all : 0 }'
}

share_near() # self|total REGEX PERCENT: but for chance, and the clock's resolution
{
    check "$1 share of $2 is not $3 %" near "$(share "$1" "$2")" "$3" \
        "$(samples_of "$record_cap")" 2
}

at_least() # self|total REGEX PERCENT
{
    at_least_is=$(share "$1" "$2")
    check "$1 share of $2 is $at_least_is %, not $3 or more" test "$at_least_is" -ge "$3"
}

# In samples that have frames of all these names: each innermost of one above every
# one of the next, and there are some.
ordered() # CAPTURE REGEX-INNERMOST...
{
    ordered_cap=$1
    shift
    stacks "$ordered_cap" | RES=$(printf '%s\n' "$@") awk -F '\t' '
        BEGIN { n = split(ENVIRON["RES"], re, "\n") }
        {
            for (i = 1; i <= n; i++) first[i] = last[i] = 0
            for (f = 2; f <= NF; f++)
                for (i = 1; i <= n; i++)
                    if ($f ~ re[i]) { last[i] = f; if (!first[i]) first[i] = f }
            for (i = 1; i <= n; i++) if (!first[i]) next
            seen++
            for (i = 1; i < n; i++)
                if (last[i] >= first[i + 1]) { print "out of order: " $0; bad = 1 }
        }
        END { print seen + 0, "samples"; exit bad || !seen }'
}

# Is the next named C function below every frame of this function this one, and are there enough
# of them? Of 50 one may have others, and one more: a stack of forky's libffi 8.5 once ended in it.
called_by() # CAPTURE REGEX REGEX-OF-C
{
    stacks "$1" | FUNCTION=$2 C=$3 awk -F '\t' '
        BEGIN { function_re = ENVIRON["FUNCTION"]; c_re = ENVIRON["C"] }
        {
            for (f = 2; f <= NF; f++) {
                if ($f !~ function_re) continue
                seen++
                for (c = f + 1; c <= NF && $c !~ /^C:/; c++) ;
                if (c <= NF && $c ~ c_re) continue
                print "called by " (c <= NF ? $c : "none") ": " $0
                bad += c <= NF ? seen + 50 : 1
            }
        }
        END { print seen + 0, "frames"; exit bad > 1 + seen / 50 || seen < 20 }'
}

# Share of samples, in whole percent, whose frame of this name is at this line; of all
# samples in which it has a line. Innermost frames have none.
line_share() # CAPTURE REGEX LINE
{
    stacks "$1" lines | RE=$2 awk -F '\t' -v want="$3" '
        BEGIN { re = ENVIRON["RE"] }
        $2 ~ / :[0-9]+$/ { print "innermost: " $0; bad = 1 }
        { for (f = 2; f <= NF; f++) if ($f ~ re && $f ~ / :[0-9]+$/) {
            all++
            if ($f ~ " :" want "$") there++
        } }
        END { printf "%.0f\n", all && !bad ? 100 * there / all : -1 }'
}

# Does no sample name a function twice?
single() # CAPTURE
{
    stacks "$1" | awk -F '\t' '
        {
            split("", had)
            for (f = 2; f <= NF; f++)
                if ($f !~ /^[CI]:/ && had[$f]++) { print; bad = 1 }
        }
        END { exit bad || NR < 3 }'
}

# Is what runs a script or a label always the engine or its glue, and does every stack
# end where the process began? A few may be cut short: the engine has functions (in Rust)
# without unwind information, which strings are handed on by: they take as much as they take.
rooted() # CAPTURE
{
    stacks "$1" | awk -F '\t' '
        {
            for (f = 2; f < NF; f++)
                if ($f !~ /^[CI]:/ && $(f + 1) ~ /^C:/) { print "in C: " $0; bad = 1 }
            if ($NF == "C:_start") next
            print "cut short: " $0
            if ($0 ~ /I:encoding_rs::/) rust++
            else short++
        }
        END { print NR, "samples"
              exit bad || NR < 3 || short > NR / 10 + 3 || rust > NR / 4 }'
}

# Is there no time of the engine's own in a report, but in one that asks for it?
hidden() # CAPTURE
{
    "$JSPROF_TOOL" report --csv --limit=0 "$1" >hidden.csv &&
        "$JSPROF_TOOL" report --csv --limit=0 --native "$1" >native.csv || return 1
    grep -E '^"?(libmozjs|libgjs|libffi)|\[lib(mozjs|gjs|ffi)' hidden.csv && return 1
    grep -Eq '^"?libmozjs' native.csv
}

# What the engine calls a collection of its nursery.
minor=js::Nursery::collect
[ "$ENGINE" -lt 128 ] || minor='Minor GC'

# -- Where the time went, compiled and interpreted --
for no_jit in '' 1; do
    if [ -n "$no_jit" ]; then export GJS_DISABLE_JIT=1; fi
    # A program's turns may be in step with the kernel's tick, which the CPU clock has.
    clock=wall
    record shares.cap 1500 "$SCRIPTS/shares.js"
    at_least self '^spin \(.*/shares[.]js:4:'$(column 13)'\)$' 90
    share_near total '^mostwork \(.*/shares[.]js:23:'$(column 17)'\)$' 56
    share_near total '^middlework \(.*/shares[.]js:19:'$(column 19)'\)$' 28
    share_near total '^leastwork \(.*/shares[.]js:15:'$(column 18)'\)$' 14
    share_near total '^tinywork \(.*/shares[.]js:11:'$(column 17)'\)$' 2
    at_least total '/shares[.]js$' 90
    check 'a loop that went on in compiled code is one frame' single shares.cap
    check 'every stack begins where the process did' rooted shares.cap
    check 'callees stand above callers' \
        ordered shares.cap '^spin ' '^(tiny|least|middle|most)work ' '/shares[.]js$'

    # -- Every way from C++ into JavaScript keeps the callers --
    record callers.cap 2000 "$SCRIPTS/callers.js"
    # The rest waits for GLib's threads, which a busy machine makes longer.
    at_least self '^burn \(' 45
    at_least total '^tick \(' 35
    at_least total 'GLib[.]MainLoop[.]run$' 80
    for via in viaSort compare viaMap each viaReplace replacer viaJson reviver viaSignal onRung \
        viaGetter 'get value' viaGenerator ready; do
        at_least total "(^|/)$via \\(" 1
    done
    check 'natives stand between their caller and their callee' ordered callers.cap \
        '^burn ' '^onRung ' '^C:g_closure_invoke$' 'emit' '^viaSignal ' '^tick ' \
        '^C:g_main_loop_run$' 'MainLoop[.]run' \
        'callers[.]js$' '^I:gjs_context_eval$' '^C:main$'
    check 'and so do self-hosted functions' ordered callers.cap '^burn ' '^compare ' \
        '^viaSort ' '^tick ' 'MainLoop[.]run' 'callers[.]js$'
    check 'and with their own names' ordered callers.cap '^burn ' '^each ' \
        '^map ' '^viaMap ' '^tick ' 'MainLoop[.]run' 'callers[.]js$'
    check 'every stack begins where the process did' rooted callers.cap
    check "the engine's own frames are hidden" hidden callers.cap
    # The engine's C++ interpreter does not report that it resumes one of these.
    if [ -z "$no_jit" ]; then
        at_least total '^viaGenerator/generator \(|^generator \(' 1
        at_least total '^viaPromise \(' 1
    fi

    clock=cpu
    # Compiled frames are larger: gjs's stack ends before 10,000 of them.
    record deep.cap 700 "$SCRIPTS/deep.js" "${no_jit:+10000}"
    at_least total '/deep[.]js$' 90
    at_least total '^down \(' 80
    check 'a stack too deep is counted' cut deep.cap
    check 'and keeps its roots' ordered deep.cap '^down ' '/deep[.]js$'

    # SpiderMonkey reports lines of its interpreters only.
    if [ -n "$no_jit" ]; then
        clock=wall
        record lines.cap 1000 "$SCRIPTS/lines.js"
        at_11=$(line_share lines.cap '^work \(' 11)
        at_12=$(line_share lines.cap '^work \(' 12)
        check "callers have lines: $at_11 % at 11, $at_12 % at 12" \
            test "$at_11" -ge 12 -a "$at_11" -le 38 -a $((at_11 + at_12)) -ge 99
        [ -n "${LONG:-}" ] || break
        clock=cpu
    fi

    # -- C functions, and scripts that they call back --
    record natives.cap 700 "$SCRIPTS/natives.js"
    at_least total '^g_compute_checksum_for_data' 5
    at_least total '^g_list_store_sort' 10
    check 'a C function stands above the script that calls it' ordered natives.cap \
        '^C:g_compute_checksum_for_data$' '^checksum ' '/natives[.]js$' '^C:main$'
    check 'and between two scripts' ordered natives.cap '^burn ' '^later ' \
        '^C:g_list_store_sort$' '^sorted ' '/natives[.]js$' '^C:main$'
    check 'every stack begins where the process did' rooted natives.cap

    record fewer.cap 700 "$SCRIPTS/fewer.js"
    check 'C calls a function that takes more arguments than it gives' \
        called_by fewer.cap '^compare ' '^C:(libglib|g_sequence_|g_list_store_sort)'
    check 'and so does C below that' \
        called_by fewer.cap '^tick ' '^C:(libglib|g_main_|g_idle_)'
    check 'every stack begins where the process did' rooted fewer.cap

    record module.cap 700 -m "$SCRIPTS/module.mjs"
    at_least self '^burnt \(.*/burnt[.]mjs:2:'$(column 21)'\)$' 70
    [ -n "$no_jit" ] || at_least total '^waiter \(.*/module[.]mjs:5:'$(column 21)'\)$' 75

    record wasm.cap 500 "$SCRIPTS/wasm.js"
    at_least self '^fib \(' 90
    check 'WebAssembly stands above the script that calls it' \
        ordered wasm.cap '^fib ' '^viaWasm ' '/wasm[.]js$'
    check 'and that above main' ordered wasm.cap '^fib ' '^viaWasm ' '^C:main$'
    check 'every stack begins where the process did' rooted wasm.cap

    record imports.cap 500 "$SCRIPTS/imports.js"
    check 'scripts that it calls stand above it' ordered imports.cap '^burn ' '^back ' \
        '/imports[.]js$' '^C:main$'
    check 'every stack begins where the process did' rooted imports.cap

    record parts.cap 1000 "$SCRIPTS/parts.js" fresh bailouts exceptions collections churn generators
    at_least total '^(fresh|bailouts|exceptions|collections|churn|generators) [(].*parts[.]js' 80
    check 'every stack begins where the process did' rooted parts.cap

    record collect.cap 0 -c 'for (let i = 0; i < 40; i++)
        JSON.stringify(Array.from({length: 1e5}, function make(_, j) { return "n" + j; })); 0'
    # It has 55 % of 331 samples, interpreted 20 % of 764: less than 5 % of a fifth of these is a
    # deviation of 4.7 standard errors.
    at_least total "^$minor\$" 5
    check 'which is of the kind gc' grep -q "^\"\{0,1\}$minor\"\{0,1\},gc," report.csv
    check 'a collection stands above what it interrupted' \
        ordered collect.cap "^$minor\$" '^make ' '^from ' '^<command line>$'
    check 'every stack begins where the process did' rooted collect.cap
    at_least total '^<command line>$' 90
done
unset GJS_DISABLE_JIT

clock=cpu
# The time is elapsed time, and samples are of CPU time: a busy machine gives less of it.
record command.cap 0 -c 'const t = Date.now();
    for (let n = 0; n < 3000 || Date.now() - t < 300; n++)
        for (let i = 0, s = 0; i < 1e5; i++)
            s += i;'
at_least total '^<command line>$' 90

# -- Rates and clocks --
"$GJS" --profile-clock=wall --profile-hz 100 --profile-output wall.cap \
    -c 'imports.gi.GLib.usleep(500000)' || fail 'wall clock'
check 'a sleeping program has wall samples' sleeper wall.cap
JSPROF="$SCRATCH/env-%p.cap" BURN_MS=300 "$GJS" "$SCRIPTS/shares.js" >/dev/null || fail 'JSPROF'
check 'JSPROF=FILE records' whole env-*.cap
JSPROF="$SCRATCH/env.cap" JSPROF_HZ=many "$GJS" -c 'print("ran")' >out 2>err
check 'a malformed JSPROF_HZ ends it before the script' test $? = 1 -a ! -s out
check 'and says so in one line' one_line err \
    '^gjs-console: JSPROF_HZ=many: a whole number from 1 to 10000 is allowed$'
mkdir -p away
JSPROF=here.cap BURN_MS=100 "$GJS" -c "imports.gi.GLib.chdir('away');
    const t = Date.now(); while (Date.now() - t < 100);" >out 2>err
check 'a script that goes elsewhere is recorded where it was begun' whole here.cap

finish
