#!/bin/sh
# fault/closed.sh - a program that runs with stdin, stdout or stderr closed: no file of ours
# takes one of these numbers. Seen failing with open() in place of jsp_descriptor_open: the
# capture had number 1, and what the host printed was in it.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

cat >below.c <<'END'
#include <fcntl.h>
#include <jsprof.h>
#include <unistd.h>

/* 0: nothing of ours is on 0, 1 and 2. */
int main(int argc, char **argv)
{
    jsprof_options options = { .size = sizeof options, .path = argv[argc - 1],
                               .flags = JSPROF_PERF_MAP | JSPROF_JITDUMP };
    jsprof *prof;
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    if (jsprof_open(&prof, &options) || jsprof_start(prof))
        return 100;
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return 1 + fd;
    return jsprof_close(prof) ? 101 : 0;
}
END
"${CC:-gcc}" -O1 -Wall -Werror -pthread -I"$SRCDIR/include" -o below below.c \
    "$B/lib/libjsprof.a" || exit 1
./below below.cap &
below=$!
wait $below || fail "a number below 3 is taken, or nothing works: $?"
rm -f "/tmp/perf-$below.map"
readable below.cap

timeout 60 "$HOST" "$SCRATCH/x.cap" 100 >&- 2>"$OUT" || fail "the host ended with $?"
readable x.cap
! grep -aq 'open: no error' x.cap || fail 'what the host printed is in the capture'
timeout 60 "$HOST" "$SCRATCH/y.cap" 100 <&- >&- 2>&- || fail "the host ended with $?"
readable y.cap
[ "$(samples y.cap)" -gt 0 ] || fail 'the capture is empty'

# The command: what it prints must not go into the file that it writes.
"$TOOL" convert --to folded y.cap -o open.folded || fail 'no conversion'
"$TOOL" convert --to folded y.cap -o closed.folded <&- >&- 2>&-
cmp -s open.folded closed.folded || fail 'a conversion with all closed is another one'
"$TOOL" report y.cap >&- 2>"$OUT" && fail 'a report that nobody gets has succeeded'
grep -q 'standard output' "$OUT" || fail 'and says nothing'

[ $FAILED = 0 ]
