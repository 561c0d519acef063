#!/bin/sh
# cli/states.sh - what threads were doing: groups, filters, idle time, info and advice, with the
# exact numbers of a made capture, in each form of it.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

"$jsprof" convert --to compact -o compact.cap states.cap
"$jsprof" convert --to syscap -o plain.cap compact.cap
"$jsprof" merge -o joined.cap states.cap

# groups CAPTURE BY [OPTION]...: "group,self in ms", one a line
groups()
{
    capture=$1 by=$2
    shift 2
    run report --by "$by" --csv "$@" "$capture"
    is_rc 0
    sed 1d out | tr -d '"' | awk -F, '{ print $1 "," $2 / 1000000 }' | sort >rows
    ran="jsprof report --by $by $* $capture"
}

same() # LINES of "group,ms"
{
    printf '%s\n' "$@" | sort | cmp -s - rows || {
        cp rows out
        wrong "not $*"
    }
}

for capture in states.cap statesbig.cap compact.cap plain.cap joined.cap; do
    groups $capture state --idle
    same running,550 waiting,200 asleep,570 host,80 unknown,100
    groups $capture state
    same running,550 waiting,200 asleep,170 host,80 unknown,100
    groups $capture syscall
    same '[running],550' '[waiting for a processor],200' read,100 ppoll,50 \
        '[the big lock],80' '[no system call],20' '[not known],100'
    groups $capture state --thread main --idle
    same running,150 waiting,200 asleep,570 host,80
    groups $capture state --state asleep
    same asleep,170
    groups $capture state --syscall ppoll --idle
    same asleep,450
    groups $capture state --syscall ppoll
    same asleep,50
    groups $capture kind --state waiting
    same synth,200 vm,0
    groups $capture state --category idle
    same asleep,400
    groups $capture state --category idle --state asleep
    same asleep,400
    groups $capture state --state running --under ppoll
    same running,100 # it ran in the poll of a loop: not idle
    groups $capture state --clock cpu
    same running,550 waiting,0 asleep,0 host,0 unknown,0
done

# A point of the looker is a period of the CPU time, wherever it falls in its cell; a timer's
# sample is the time since the one before.
functions()
{
    run report --csv "$@"
    is_rc 0
    sed '1d; s/ (.*:[13])//; s/"//g' out | awk -F, '{ print $1 "," $3 / 1000000 }' | sort >rows
}
functions looked.cap
same main,1 work,1 read,1
functions lookedwall.cap --clock cpu
same main,1 work,1 read,0
functions lookedwall.cap
same main,1 work,1 read,1
functions timed.cap
same main,0.3 work,1.7 read,0.1

run tree --state host states.cap
has 'work'
hasnt 'leaf'
run report --by state states.cap
row 'STATE'
run report --by syscall states.cap
row 'SYSTEM CALL'

# Too few samples for advice; then 20 of 40.
run report --state running states.cap
hasnt 'Threads that had work'

run report --state sleeping states.cap
is_rc 2
grep -q 'knows unknown, running, waiting, asleep, host and stopped, not "sleeping"' err ||
    wrong 'no list of states'
run report --state running good.cap
is_rc 1
is_err 'jsprof: good.cap: --state: the capture does not record what threads were doing'
run tree --syscall read good.cap
is_rc 1
is_err 'jsprof: good.cap: --syscall: the capture does not record what threads were doing'
run report --syscall write states.cap
is_rc 1
is_err 'jsprof: states.cap: no samples in what was chosen of this capture'

# Every command that takes filters takes these.
for command in threads tree 'callers work' 'callees work' 'annotate work' 'diff states.cap'; do
    # shellcheck disable=SC2086
    run $command --state waiting states.cap
    is_rc 0
done
run convert --to folded --state host -o - states.cap
is_rc 0
lines 1
grep -q 'main.*;work .* 80000000$' out || wrong 'not that stack'

# Each of very many threads has its states, and to find them takes no search through all: that would
# be 10,000,000,000 steps.
cat >many.c <<'END'
#include "unit/capture_builder.h"

enum { THREADS = 100000, AT_ONCE = 100 };

int main(void)
{
    static const uint64_t leaf = 0xE000000000000001u;
    static char text[AT_ONCE * 80];
    struct builder b;
    build_start(&b, false);
    build_metadata(&b, "jsprof.version", "0.1.0");
    for (int i = 0; i < THREADS; i++) {
        b.tid = 1000 + i;
        build_sample(&b, &leaf, 1);
    }
    for (int i = 0; i < THREADS; i += AT_ONCE) {
        uint8_t states[AT_ONCE + 20] = { 1 };
        size_t n = 1 + build_varint(states + 1, (uint64_t)i), used = 0;
        n += build_varint(states + n, AT_ONCE);
        memset(states + n, 1, AT_ONCE);
        build_chunk(&b, "jsprof/states", states, n + AT_ONCE);
        for (int k = i; k < i + AT_ONCE; k++)
            used += (size_t)sprintf(text + used, "thread id=%d tid=%d expirations=1 kept=1\n",
                                    k + 1, 1000 + k);
        build_chunk(&b, "jsprof/losses", text, used);
    }
    return fwrite(b.bytes, 1, b.size, stdout) != b.size;
}
END
"$CC" -std=c11 -D_GNU_SOURCE -I"$SRCDIR/tests" -o many many.c
./many >many.cap
(ulimit -t 5 && "$jsprof" info many.cap >out 2>err) || wrong 'it searched'
ran='jsprof info many.cap'
n=$(grep -c '100.0% running' out)
: >out
[ "$n" -eq 100001 ] || wrong "not the states of each thread, but $n"
exit $bad
