#!/bin/sh
# lines.sh - functions in compiled code have lines: running ones in optimized code, calling ones
# where the call is inlined, and both in baseline code. Tables that can not be read give no
# line and no fault: lines_host.cpp tries each.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
if [ "$ENGINE" = 115 ] || [ "$(uname -m)" != x86_64 ]; then
    echo 'SKIP: the tables of compiled code are known of SpiderMonkey 102, 128 and 140 on x86-64'
    exit 77
fi

record() # CAPTURE SCRIPT OPTION...
{
    record_cap=$1
    record_script=$2
    shift 2
    BURN_MS=2000 "$GJS" --profile-clock=wall --profile-output="$record_cap" "$@" \
        "$SCRIPTS/$record_script" >out 2>err
    check "$record_cap: whole" whole "$record_cap"
}

# Share of frames of this name, in whole percent, that are at this line: of the innermost ones
# (1), or of those that the innermost one was called from (2).
at_line() # CAPTURE FRAME REGEX LINE
{
    stacks "$1" lines | RE=$3 awk -F '\t' -v f=$(($2 + 1)) -v want="$4" '
        BEGIN { re = ENVIRON["RE"] }
        $f ~ re { all++; if ($f ~ (" :" want "$")) there++ }
        END { printf "%.0f\n", (all > 20 ? 100 * there / all : -1) }'
}

at_least() # PERCENT CAPTURE FRAME REGEX LINE
{
    at_least_is=$(at_line "$2" "$3" "$4" "$5")
    check "$2: $4 is at line $5 in $at_least_is %, not $1 or more" test "$at_least_is" -ge "$1"
}

# A twentieth more or less is right, and chance: five times its deviation. On a busy machine,
# samples are few, and two may have one place.
at_about() # PERCENT CAPTURE FRAME REGEX LINE
{
    about=$(stacks "$2" lines | RE=$4 awk -F '\t' -v f=$(($3 + 1)) -v line="$5" -v percent="$1" '
        BEGIN { re = ENVIRON["RE"] }
        $f ~ re { n++; if ($f ~ (" :" line "$")) at++ }
        END {
            p = percent / 100
            off = at - n * p
            print at + 0 " of " n + 0 " samples"
            exit n <= 20 || off * off > (n / 20 + 5 * sqrt(2 * n * p * (1 - p))) ^ 2
        }')
    check "$2: $4 is at line $5 in $about, not in $1 %" test $? = 0
}

record optimized.cap compiled.js
at_least 60 optimized.cap 1 '^inner ' 6
at_least 50 optimized.cap 2 '^work ' 14
"$JSPROF_TOOL" annotate optimized.cap inner >annotated 2>&1
check 'annotate shows the line with its share' grep -Eq '^ *[0-9.]+%.* 6  +x \+= a' annotated

# Counting calls, there is no optimized code.
record baseline.cap compiled.js --profile-calls=on
at_least 60 baseline.cap 1 '^inner ' 6
at_least 90 baseline.cap 2 '^work ' 14
record calls.cap lines.js --profile-calls=on
at_about 25 calls.cap 2 '^work ' 11
at_about 75 calls.cap 2 '^work ' 12

check 'the host compiles' compile_host "$ENGINE" "$SRCDIR/tests/mozjs/lines_host.cpp" host
./host >host.out 2>host.err
check "it ends well, not with $?" test $? = 0
check 'tables that can not be read' all_ok host.out

finish
