#!/bin/sh
# check/embedding.sh - the code of docs/embedding.md compiles, and the page has each call that an
# embedder needs.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
block() # LANGUAGE: all its blocks
{
    awk -v open="\`\`\`$1" '$0 == open { on = 1; next } /^```/ { on = 0 } on' docs/embedding.md
}

# The types and functions of the host that the page does not show.
cat >"$tmp/host.h" <<'END'
#include <jsprof.h>
#include <setjmp.h>
typedef int value;
struct code;
struct body { jsprof_function *function; uint32_t line; };
struct frame {
    struct frame *up;
    struct code *code;
    jsprof_function *function, *other;
    uint64_t pc;
};
struct vm {
    jsprof_thread *profile;
    struct frame *frame;
    const jsprof_cstack *running;
    jmp_buf handler;
    value error;
};
struct coroutine { jsprof_cstack stack; char memory[65536]; };
value run(struct vm *vm, struct body *body, jsprof_link *link);
jsprof_function *known(struct code *code);
void swap_to(struct coroutine *c);
void swap_back(struct coroutine *c);
END
cat >"$tmp/host.hpp" <<'END'
#include <jsprof.h>
typedef int value;
struct body { jsprof_function *function; uint32_t line; };
value run(body *code);
END
block c >"$tmp/c" && block cpp >"$tmp/cpp"
[ -s "$tmp/c" ] && [ -s "$tmp/cpp" ] || { echo 'embedding: the page has no code'; exit 1; }
cat "$tmp/host.h" "$tmp/c" >"$tmp/c.c"
cat "$tmp/host.hpp" "$tmp/cpp" >"$tmp/cpp.cpp"
$CC -std=gnu11 -Wall -Wextra ${WERROR:-} -Iinclude -c -o "$tmp/c.o" "$tmp/c.c"
! command -v g++ >/dev/null ||
    g++ -std=c++17 -Wall -Wextra ${WERROR:-} -Iinclude -c -o "$tmp/cpp.o" "$tmp/cpp.cpp"

status=0
for call in function_lines function_ref link_unwind_to scope enter_at call_enter call_leave \
    call_leave_through call_unwind_to call_tail read scratch interpreter_add stack_switch \
    stack_forget section_begin thread_pause link_tail_call; do
    grep -q "jsprof_$call\b" docs/embedding.md ||
        { echo "embedding: the page lacks jsprof_$call"; status=1; }
done
for host in examples/hosts/*/; do
    grep -q "$host" docs/embedding.md || { echo "embedding: the page lacks $host"; status=1; }
    lines=$(cat "$host"*.c | wc -l)
    [ "$lines" -le 120 ] || { echo "embedding: $host has $lines lines"; status=1; }
done
exit $status
