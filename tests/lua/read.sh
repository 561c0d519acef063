#!/bin/sh
# read.sh - what a walk reads: memory that is there, and none that is not, in a process of one
# thread, which reads in place, and of two, where the kernel copies.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

# Which libc says how many threads there are: glibc, from 2.32 on.
told()
{
    case $(getconf GNU_LIBC_VERSION 2>/dev/null) in
    'glibc 2.2'? | 'glibc 2.3'[01] | '') return 1 ;;
    esac
}

build()
{
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra $1 -I"$SRCDIR/bindings/lua" \
        -o "$SCRATCH/host" "$SRCDIR/tests/lua/read_host.c" "$SRCDIR/bindings/lua/read.c" \
        "$SRCDIR/bindings/lua/direct.c" -lpthread -ldl
}

untold=
told || untold=untold
check 'as it is built' build ''
check 'what is there and nothing else, in both ways' "$SCRATCH/host" $untold
check 'not with a thread that glibc does not know' "$SCRATCH/host" unknown
valgrind_like() # its library comes first; this one is not there, which the loader says
{
    LD_PRELOAD=$SCRATCH/vgpreload_core-none.so "$SCRATCH/host" refused
}
check 'not under valgrind' valgrind_like
check 'with sanitizers' build '-fsanitize=address,undefined -fno-sanitize-recover=all'
check 'they find nothing in it' "$SCRATCH/host" $untold
finish
