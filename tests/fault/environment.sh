#!/bin/sh
# fault/environment.sh - what JSPROF, JSPROF_HZ and JSPROF_CLOCK do, and where they
# must do nothing. Seen failing with getenv for secure_getenv, without O_NOFOLLOW, and
# without the folder that env.c remembers.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

host - 1
said 'environment: no error'
[ "$(find . -name '*.cap' -o -name '*.syscap' | wc -l)" = 0 ] || fail 'a file without JSPROF'

JSPROF= host - 1
said 'environment: no error'

JSPROF=run-%p-%%.cap host - 50
said 'environment: started'
set -- run-*-%.cap
[ -s "$1" ] || fail "no file run-PID-%.cap: $*"
readable "$1"

for hz in 0 -1 10001 99999999999999999999 12x x 1.5 +5 ' -18446744073709551000'; do
    JSPROF=bad.cap JSPROF_HZ="$hz" host - 1
    said "environment: JSPROF_HZ=$hz: a whole number from 1 to 10000 is allowed"
    [ ! -e bad.cap ] || fail "JSPROF_HZ=$hz left a file"
done
JSPROF=bad.cap JSPROF_CLOCK=sundial host - 1
said 'environment: JSPROF_CLOCK=sundial: cpu or wall is allowed'
[ ! -e bad.cap ] || fail 'JSPROF_CLOCK=sundial left a file'
JSPROF=bad.cap JSPROF_COMPACT=yes host - 1
said 'environment: JSPROF_COMPACT=yes: 0 or 1 is allowed'
[ ! -e bad.cap ] || fail 'JSPROF_COMPACT=yes left a file'
JSPROF=no/such/folder.cap host - 1
said 'environment: JSPROF=no/such/folder.cap: no such file or directory'

# A program that goes to another folder: the file lies where the program was begun.
mkdir away
JSPROF=here.cap host - 50 1 away
said 'environment: started'
[ -s here.cap ] && [ ! -e away/here.cap ] || fail 'a relative JSPROF went where the host did'

for hz in 1 250 10000; do
    JSPROF=hz.cap JSPROF_HZ=$hz JSPROF_CLOCK=wall host - 20
    said 'environment: started'
    "$TOOL" dump hz.cap >"$OUT"
    grep -q "jsprof.hz.*[^0-9]$hz\$" "$OUT" || fail "the capture does not say $hz Hz"
    grep -q 'jsprof.clock.*wall' "$OUT" || fail 'the capture does not say wall'
done

# A planted link is not followed, and its target keeps its contents.
echo precious >target
ln -s target link.cap
JSPROF=link.cap host - 1
said 'environment: JSPROF=link.cap: is a symbolic link'
[ "$(cat target)" = precious ] || fail 'the target of a planted link was written to'

# A program with more rights than its caller ignores the environment.
if [ "$(id -u)" = 0 ]; then
    chmod 777 . && cp "$HOST" setuid && chmod 4755 setuid
    JSPROF=$SCRATCH/setuid.cap setpriv --reuid=65534 --regid=65534 --clear-groups \
        ./setuid - 1 >"$OUT" 2>&1 || fail "the setuid host ended with $?"
    [ ! -e setuid.cap ] || fail 'a setuid program obeyed JSPROF'
    said 'environment: no error'
else
    echo 'SKIP: needs root to make a setuid program'
    [ $FAILED = 0 ] && exit 77
fi

[ $FAILED = 0 ]
