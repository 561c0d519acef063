#!/bin/sh
# pkg/cxx.sh - a C++ host: links the static library, and an exception that unwinds
# past its frames leaves the depth where jsprof_leave_to puts it.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
command -v g++ >/dev/null || { echo 'SKIP: needs g++'; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/host.cpp" <<'END'
#include <jsprof.h>

static void dive(jsprof_thread *t, int n)
{
    jsprof_push(t, "dive", nullptr, 1);
    if (n == 0)
        throw 1;
    dive(t, n - 1);
    jsprof_pop(t);
}

int main(int, char **argv)
{
    jsprof_options options = {};
    options.size = sizeof options;
    options.path = argv[1];
    jsprof *prof;
    jsprof_thread *me;
    if (jsprof_open(&prof, &options) < 0 || jsprof_thread_attach(prof, "main", &me) < 0)
        return 1;
    uint32_t depth = me->depth;
    try {
        dive(me, 9);
    } catch (int) {
        if (me->depth != depth + 10)
            return 2;
        jsprof_leave_to(me, depth);
    }
    if (me->depth != depth || me->underflows != 0)
        return 3;
    return jsprof_close(prof) < 0 ? 4 : 0;
}
END
g++ -std=c++17 -Wall -Wextra -Wpedantic ${WERROR:-} -Iinclude -o "$tmp/host" "$tmp/host.cpp" \
    "$B/lib/libjsprof.a" -pthread
"$tmp/host" "$tmp/cxx.cap"
