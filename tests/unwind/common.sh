# common.sh - for the scripts beside it: compile a helper against the tested objects.
#
# SPDX-License-Identifier: MIT

out=$B/tests/unwind
mkdir -p "$out"

need() # COMMAND PACKAGE
{
    command -v "$1" >/dev/null || { echo "SKIP: needs $2"; exit 77; }
}

need_x86() # native: the reference speaks this machine's language
{
    case $($CC -dumpmachine) in
    x86_64*) ;;
    *) echo 'SKIP: needs x86-64'; exit 77 ;;
    esac
}

build() # NAME ARGUMENTS: tests/unwind/NAME.c
{
    name=$1
    shift
    $CC -std=c11 -D_GNU_SOURCE -O2 -g -fPIC -ftls-model=initial-exec -pthread -Wall -Wextra \
        ${WERROR:-} -Isrc -Iinclude -Itests/unit -o "$out/$name" "tests/unwind/${name%.so}.c" \
        "$@" "$B/obj/inner.a" -lm
}
