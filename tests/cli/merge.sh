#!/bin/sh
# cli/merge.sh - a merged capture says what its parts say, in sum.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

same() # ARGUMENTS FILE FILE: the same answer
{
    run $1 "$2"
    cp out first
    run $1 "$3"
    cmp -s out first || wrong "differs from that of $2"
}

for one in good big events merged killed; do
    run merge $one.cap -o one.cap
    is_rc 0
    [ $one != killed ] || lacks_end
    is_err ''
    lines 0
    for what in 'report --csv' 'tree --csv --min 0 --lines' 'list --csv' 'threads --csv' \
        'report --csv --native --time 3ms..12ms'; do
        same "$what" $one.cap one.cap
    done
done
run merge big.cap -o one.cap
run info one.cap
is_rc 0
row '100 main 6 15 3 1000 Hz 12 ms'
has '19 expirations = 16 kept + 3 lost: adds up'
has 'little-endian'

# Twice the same process: twice of everything, of one process; nothing shifts.
run merge good.cap big.cap -o two.cap
is_rc 0
is_err ''
run info two.cap
is_rc 0
has '38 expirations = 32 kept + 6 lost: adds up'
run report two.cap
row '62.5% 12.1 100 ms 10 62.5% 100 ms'
row ':22 100%'
has 'in 16 samples'

# Another program under the same number gets its own; marks and counters stay apart.
run merge foreign.cap foreign2.cap -o two.cap
is_err 'jsprof: two.cap: 1 process has another number'
run threads --csv two.cap
has '100,100,'
has '4194304,100,'
run report --process third two.cap
row '100.0% 0.0 2 100.0% 2 ████████████████ native [third]'
has /usr/bin/third
run merge events.cap events.cap events.cap -o three.cap
run list --csv three.cap
has 'mark,"gc","sweep",60,630000000'
has 'counter,"app","load",2,'
lines 8 # the marks; each counter three times, for they are three
run merge good.cap - -o three.cap <big.cap
is_rc 0
run merge good.cap -o - >direct
cp out direct
run merge good.cap -o one.cap
cmp -s direct one.cap || wrong 'standard output differs from a file'

# Parts that were killed or damaged: what is readable is there, the rest is said.
run merge good.cap defects.cap -o two.cap
is_rc 0
grep -q 'sample without an address' err || wrong 'says nothing of the damage'
run report two.cap
has 'in 16 samples'
lacks_end
is_err ''
run merge good.cap killed.cap -o two.cap
run info two.cap
is_rc 0
has 'killed or still running'

# Not what can not be added up.
run merge good.cap foreign.cap -o no.cap
is_rc 1
is_err 'jsprof: foreign.cap: can not be merged with good.cap: one counts CPU time, elapsed '\
'time or samples, the other does not'
[ ! -e no.cap ] || wrong 'has left a file'
run merge good.cap
is_rc 2
run merge -o no.cap
is_rc 2
run merge absent -o no.cap
is_rc 1
is_err 'jsprof: absent: No such file or directory'

# Times of another boot are moved; those of the same are not.
run merge good.cap otherboot.cap -o two.cap
is_rc 0
is_err 'jsprof: two.cap: times of 1 capture were moved to the first one'"'s clock"
run threads --csv two.cap
has 'main",60000000,6,9000000,14000000'
has 'later",10000000,1,3600007000000,3600007000000'
exit $bad
