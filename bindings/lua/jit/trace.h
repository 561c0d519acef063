/* trace.h - the Lua functions that a compiled trace runs.
 *
 * LuaJIT compiles along one path through several functions. At each place where machine
 * code may have to leave the trace, a snapshot holds the functions that are open there
 * and their instructions. The walk shows the last snapshot before the interrupted
 * address.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_JIT_TRACE_H
#define JSPROF_LUA_JIT_TRACE_H

#include "jit/layout.h"
#include "proto.h"

enum { JSP_JIT_INLINED = 32 };

struct jsp_jit_trace {
    uintptr_t code, code_bytes, ir, snaps, map;
    uint32_t n_snaps, n_map;
    uint32_t n;       /* functions inside the first one, outermost first */
    struct {
        uintptr_t function; /* 0: not known */
        uintptr_t link;     /* the caller's next instruction; 0: not known */
    } inlined[JSP_JIT_INLINED];
    uintptr_t base_function;  /* replaced the first function; 0: nothing did */
    uintptr_t start;          /* the prototype in which the trace began */
    uintptr_t next;           /* next instruction of the innermost; 0: not known */
};

/* Read the trace object at `at`, without functions. Return false if there is none. */
bool jsp_jit_trace_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_jit_trace *out);

/* Fill in the functions that are open at this address of its code. */
void jsp_jit_trace_at(struct jsp_lua_read *r, uintptr_t pc, struct jsp_jit_trace *out);

#endif
