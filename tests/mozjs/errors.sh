#!/bin/sh
# errors.sh - what can not be recorded is refused in one line before the script runs;
# a later loss is reported in one line, and the script does not notice.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

refused() # REGEX OPTIONS...: status 1, one line, the script has not run
{
    refused_line=$1
    shift
    "$GJS" "$@" -c 'print("ran")' >out 2>err
    check "$*: status $?" test $? = 1
    check "$*: the script has not run" test ! -s out
    check "$*: one clear line" one_line err "^gjs-console: $refused_line\$"
}

refused '--profile-output: /nonexistent/x.cap: No such file or directory' \
    --profile-output=/nonexistent/x.cap
refused '--profile-output: /: Is a directory' --profile-output=/
: >script
refused '--profile-output: script/x.cap: Not a directory' --profile-output script/x.cap
refused '--profile-output: : a file name is needed' --profile-output=
refused '--profile-output=-: the program prints there; .*' --profile-output=-
refused '--profile-output=/dev/stdout: the program prints there; .*' --profile-output=/dev/stdout
refused '--profile-output=err: the program prints there; .*' --profile-output=err
JSPROF=- refused 'JSPROF=-: the program prints there; .*'
check 'no file is named -' test ! -e ./-
script -qec "'$GJS' --profile-output=/dev/tty -c 'print(\"ran\")' >out 2>err" typescript >shown
check '/dev/tty: refused, and nothing shown' test $? = 1 -a ! -s out -a ! -s shown
check '/dev/tty: in one line' one_line err '--profile-output=/dev/tty: the program prints there; '
for hz in 0 10001 -1 5x x '' 1e3 99999999999999999999 ' 7'; do
    refused "--profile-hz=$hz: a whole number from 1 to 10000 is allowed" \
        --profile-output=x.cap "--profile-hz=$hz"
done
for clock in '' CPU sundial; do
    refused "--profile-clock=$clock: cpu or wall is allowed" \
        --profile-output=x.cap "--profile-clock=$clock"
done
for toggle in '' ON 1; do
    refused "--profile-toggle=$toggle: neither on nor off" \
        --profile-output=x.cap "--profile-toggle=$toggle"
done
for form in '' small; do
    refused "--profile-form=$form: neither plain nor compact" \
        --profile-output=x.cap "--profile-form=$form"
done
refused '--profile-output: x.cap: can not be combined with --profile' \
    --profile-output=x.cap --profile
refused '--profile-output: x.cap: can not be combined with --profile' \
    --profile=y.syscap --profile-output x.cap
JSPROF=x.cap refused 'JSPROF: x.cap: can not be combined with --profile' --profile
for option in toggle=on form=compact hz=100 clock=wall tasks alloc threads=all; do
    refused "--profile-${option%=*}: needs --profile-output=FILE" --profile-$option
done
while read -r option why; do
    refused "--profile-$option: $why.*" --profile-output=x.cap --profile-$option
done <<'END'
alloc=many a whole number from 0 to 1073741824
tasks=all only signals is allowed
threads=some neither main nor all
stalls=16 a time from
END
JSPROF=x.cap JSPROF_TASKS=all refused 'JSPROF_TASKS=all: 0, 1 or signals is allowed'
JSPROF_CONTINUOUS=folder JSPROF_KEEP=x refused '.*JSPROF_KEEP=x: a time with a unit.*'
JSPROF_CONTINUOUS=folder JSPROF=x.cap refused '.*continuous: not together with path.*'
check 'a refused rate or clock leaves no file' test ! -e x.cap

"$GJS" --profile-output >out 2>err
check 'an option without its value: status 1' test $? = 1
check 'and says which' grep -q '^Missing argument for --profile-output$' err

# -- Somebody else has the signal --
cat >taken.c <<'END'
#include <signal.h>
static void other(int signo) { (void)signo; }
__attribute__((constructor)) static void take(void)
{
    signal(SIGPROF, other);
    signal(SIGURG, other); /* of events */
}
END
check 'the preloaded library compiles' "${CC:-gcc}" -shared -fPIC -o taken.so taken.c
LD_PRELOAD=$SCRATCH/taken.so refused '--profile-output: x.cap: .*(signal|SIGPROF).*' \
    --profile-output=x.cap

# -- The program blocks the signal, from the beginning --
some='[1-9][0-9]*'
if env --block-signal=PROF,URG true 2>env.err; then
    BURN_MS=2500 env --block-signal=PROF,URG "$GJS" --profile-output=x.cap "$SCRIPTS/callers.js" \
        >out 2>err
    check "a signal that is blocked: the script's status and output are its own" \
        test $? = 0 -a "$(cat out)" = quit
    check 'and the loss is told in one line' one_line err \
        "^gjs-console: --profile-output: x[.]cap: $some of $some samples are missing: .*SIGPROF"
else
    echo '# a blocked signal needs coreutils 8.31'
fi

# -- The disk is full: from the beginning, and in the middle --
loses() # FILE: run with the capture in FILE, which can not take it
{
    BURN_MS=2500 "$GJS" --profile-output="$1" "$SCRIPTS/callers.js" >out 2>err
    check "$1: the script's status is its own" test $? = 0
    check "$1: and so is its output" grep -qx quit out
    check "$1: the loss is told in one line" one_line err \
        "^gjs-console: --profile-output: $1: No space left on device; .* $some of $some samples"
}

loses /dev/full
mkdir small
if mount -t tmpfs -o size=16k none small 2>mount.err; then
    trap 'umount "$SCRATCH/small"; rm -rf "$SCRATCH"' EXIT
    loses small/x.cap
    check 'what fitted can be read' info_has small/x.cap 'samples'
else
    echo '# the full disk in the middle needs the right to mount'
fi

finish
