/* jit_proto.h - what a function of LuaJIT says of itself, read safely.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_JIT_PROTO_H
#define JSPROF_LUA_JIT_PROTO_H

#include "jit.h"
#include "read.h"

struct jsp_jit_proto {
    uintptr_t at, code, k, chunk, lineinfo, varinfo, uvinfo;
    uint32_t n_code, n_kgc, first, n_lines;
};

/* What stands in a frame's function slot. */
enum jsp_jit_kind { JSP_JIT_NONE, JSP_JIT_LUA, JSP_JIT_C };
struct jsp_jit_function {
    enum jsp_jit_kind kind;
    uintptr_t c;   /* the C function, or a number that stands for a fast function */
    struct jsp_jit_proto proto;
};

/* The function object at `at`. */
void jsp_jit_function_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_jit_function *f);

bool jsp_jit_proto_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_jit_proto *p);

/* Index of the instruction at this address; UINT32_MAX: it is not in the code. */
uint32_t jsp_jit_index(const struct jsp_jit_proto *p, uintptr_t pc);

/* The line of an instruction; 0: not known. */
uint32_t jsp_jit_line(struct jsp_lua_read *r, const struct jsp_jit_proto *p, uint32_t index);

/* Up to `room` bytes of a string object; its whole length; -1: it is none. */
int64_t jsp_jit_string(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room);

/* As jsp_lua_defined_next in proto.h: functions made here, and what they are put into. */
struct jsp_jit_defined {
    uintptr_t proto;
    bool is_named;
    char name[80];
};
uint32_t jsp_jit_defined_next(struct jsp_lua_read *r, const struct jsp_jit_proto *p,
                              uint32_t from, struct jsp_jit_defined *out);

#endif
