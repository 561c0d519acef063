/* trace.h - the Lua functions that a compiled trace runs.
 *
 * LuaJIT compiles along one path through several functions. Where machine code might
 * have to leave the trace, a snapshot holds which functions are open there, and at which
 * instruction. The walk shows the last snapshot before the interrupted address.
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
    uint32_t n;       /* functions above the one that the trace began in, outermost first */
    struct {
        uintptr_t function; /* 0: not known */
        uintptr_t link;     /* the caller's next instruction; 0: not known */
    } inlined[JSP_JIT_INLINED];
    uintptr_t base_function;  /* what the first one was replaced by; 0: nothing */
    uintptr_t start;          /* the prototype that the trace began in */
    uintptr_t next;           /* of the innermost, its next instruction; 0: not known */
};

/* The trace object at `at`, without functions; false: there is none. */
bool jsp_jit_trace_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_jit_trace *out);

/* Fill in the functions that are open at this address of its code. */
void jsp_jit_trace_at(struct jsp_lua_read *r, uintptr_t pc, struct jsp_jit_trace *out);

#endif
