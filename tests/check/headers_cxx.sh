#!/bin/sh
# check/headers_cxx.sh - the public headers are C++ without a warning, from C++11 to C++23, and
# their functions can be called from there. A jsprof_scope is left when an exception
# passes, and after longjmp.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
command -v g++ >/dev/null || { echo 'SKIP: needs g++'; exit 77; }
status=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
reads() {
    "$@" -Wall -Wextra -Wpedantic -Wshadow -Wconversion ${WERROR:-} -Iinclude \
        -fsyntax-only -x c++ - <<'END'
#include <jsprof-read.h>
#include <jsprof.h>
#include <jsprof-read.h>
#include <jsprof.h>

int read(jsprof_reader *r);
int read(jsprof_reader *r)
{
    jsprof_read_thread thread = {};
    thread.size = sizeof thread;
    return jsprof_read_threads(r, 0, &thread, 1) == 1 ? thread.tid : 0;
}

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
    jsprof_link_unwind_to(t, nullptr);
    jsprof_enter_at(t, f, 1);
    jsprof_push_at(t, "name", "file", 1, 1);
    jsprof_call_enter(t, f, t);
    jsprof_call_tail(t, f, t);
    jsprof_call_unwind_to(t, t);
    jsprof_call_leave(t, t);
    jsprof_call_leave_through(t, t);
    jsprof_scope scope(t, f);
    scope.link().line = 1;
}
END
}
for cxx in g++ clang++; do
    command -v $cxx >/dev/null || continue
    for std in 11 14 17 20 23; do
        $cxx -std=c++$std -fsyntax-only -x c++ /dev/null 2>/dev/null || continue
        reads $cxx -std=c++$std || { echo "headers_cxx: refused by $cxx as C++$std"; status=1; }
    done
done

cat >"$tmp/scope.cpp" <<'END'
#include <jsprof.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

static jsprof_thread *me;
static jsprof_function *f;
static std::jmp_buf jump;

static void check(bool is_true, const char *what)
{
    if (!is_true) {
        std::printf("headers_cxx: %s\n", what);
        std::exit(1);
    }
}

static void dive(int depth, bool throws)
{
    jsprof_scope scope(me, f);
    if (depth)
        dive(depth - 1, throws);
    else if (throws)
        throw 1;
    else
        std::longjmp(jump, 1);
}

int main()
{
    jsprof *prof;
    jsprof_options options = {};
    options.size = sizeof options;
    options.path = std::getenv("CAPTURE");
    check(jsprof_open(&prof, &options) == 0, "open");
    check(jsprof_thread_attach(prof, "main", &me) == 0, "attach");
    check(jsprof_function_new(&f, "f", NULL, 0, JSPROF_KIND_VM) == 0, "function");
    check(jsprof_calls_set(prof, JSPROF_CALLS_ALL) == 0, "calls");
    {
        jsprof_scope none(NULL, f), scope(me, f);
        jsprof_link *mine = &scope.link();
        check(me->top == mine, "a scope enters");
        try {
            dive(9, true);
        } catch (int) {
            check(me->top == mine, "an exception leaves the scopes");
        }
        if (!setjmp(jump))
            dive(9, false);
        scope.unwind_to();
        check(me->top == mine, "unwind_to makes the scope the innermost");
        scope.tail_call(f);
    }
    check(me->top == NULL, "a scope leaves");
    jsprof_calls calls = {};
    calls.size = sizeof calls;
    check(jsprof_calls_snapshot(prof, &calls) == 0, "snapshot");
    check(calls.calls == 22 && calls.underflows == 0, "22 calls in order");
    jsprof_calls_free(&calls);
    return jsprof_close(prof) != 0;
}
END
g++ -std=c++11 -Wall -Wextra -Iinclude -o "$tmp/scope" "$tmp/scope.cpp" "$B/lib/libjsprof.a" \
    -lpthread
CAPTURE="$tmp/scope.cap" "$tmp/scope" || status=1
exit $status
