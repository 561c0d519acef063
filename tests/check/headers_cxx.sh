#!/bin/sh
# check/headers_cxx.sh - the public header is C++17 without a warning, and its inline
# functions can be called from there.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
command -v g++ >/dev/null || { echo 'SKIP: needs g++'; exit 77; }
status=0
for cxx in g++ clang++; do
    command -v $cxx >/dev/null || continue
    $cxx -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion ${WERROR:-} -Iinclude \
        -fsyntax-only -x c++ - <<'END' && continue
#include <jsprof.h>
#include <jsprof.h>

void call(jsprof_thread *t, const jsprof_function *f);
void call(jsprof_thread *t, const jsprof_function *f)
{
    jsprof_link link;
    jsprof_push(t, "name", "file", 1);
    jsprof_line(t, 2);
    jsprof_pop(t);
    jsprof_enter(t, f);
    jsprof_leave(t);
    jsprof_leave_to(t, 0);
    jsprof_link_enter(t, &link, f);
    jsprof_link_leave(t, &link);
}
END
    echo "headers_cxx: refused by $cxx"
    status=1
done
exit $status
