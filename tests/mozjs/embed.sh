#!/bin/sh
# embed.sh - the binding in a program that is not gjs, attached and detached in every
# order; and the header in C.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

header_in_c()
{
    printf '#include "jsprof-mozjs.h"\nint main(void) { return jsprof_mozjs_detach(0); }\n' |
        "${CC:-gcc}" -std=c11 -Wall -Wextra -Wstrict-prototypes ${WERROR:-} -fsyntax-only -x c \
            -I"$SRCDIR/include" -I"$SRCDIR/bindings/mozjs" -
}

# From the script to the process's beginning. Of code that runs while nobody is attached
# nothing is known.
whole_stacks()
{
    stacks host.cap | awk -F '\t' '
        $2 !~ /^burn \(embedded/ { next }
        /\tI:JS::Evaluate.*\tC:main\t/ && $NF == "C:_start" { whole++; next }
        { print; bad = 1 }
        END { exit bad || !whole }'
}

hidden()
{
    "$JSPROF_TOOL" report --csv --limit=0 host.cap >report.csv || return 1
    ! grep 'JS::Evaluate' report.csv && grep '^"main",native' report.csv
}

make_bytes() # MEASURE: those of make.js
{
    "$JSPROF_TOOL" report --csv --measure "$1" --limit=0 host.cap |
        awk -F, '/make.js/ { sum += $3 } END { print sum + 0 }'
}

# Objects of 40 bytes: five times 300,000 were created, and three times the binding was asked to
# report them. Nothing keeps them; the last collection was after the reports had ended. So the last
# 300,000 may live, 12 MB, of which one sample is half a MB: three errors of chance are 7 MB.
allocated()
{
    created=$(make_bytes alloc)
    live=$(make_bytes live)
    echo "$created created, $live live"
    [ "$created" -gt 34000000 ] && [ "$created" -lt 38000000 ] && [ "$live" -lt 19000000 ]
}

check 'the header is C as well' header_in_c
for ENGINE in $(engines); do
    UNDER="SpiderMonkey $ENGINE"
    check 'it compiles' compile_host "$ENGINE" "$SRCDIR/tests/mozjs/embed_host.cpp" host
    ./host host.cap >host.out 2>host.err
    check "it ends well, not with $?" test $? = 0
    check 'each step' all_ok host.out
    check 'its objects' allocated
    check 'its capture' whole host.cap
    check 'the engine, called by main, runs the script' whole_stacks
    check 'and its own functions are hidden' hidden
    check 'a runtime of a thread of its own is recorded as such' \
        info_has host.cap '^ +[0-9]+  other +[1-9]'
    check 'names its functions' sh -c "'$JSPROF_TOOL' report --csv host.cap |
        grep -q '^\"\{0,1\}burn (embedded.js:1:$(column 13))'"
done

finish
