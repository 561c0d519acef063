/* proto.h - what a function prototype of PUC Lua says, read safely.
 *
 * Layout numbers come from the layout header of the Lua version that this is built
 * for (-DJSPROF_LUA_LAYOUT). Counts are as found: users bound them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_PROTO_H
#define JSPROF_LUA_PROTO_H

#include "read.h"

struct jsp_lua_proto {
    uintptr_t at, k, code, lineinfo, abslineinfo, locvars, source, upvalues, p;
    uint32_t n_p, n_k, n_code, n_lineinfo, n_abslineinfo, n_locvars, n_upvalues, linedefined;
    uint32_t n_after_closure; /* instructions behind the one that makes it */
};

/* False: there is no prototype at `at`. */
bool jsp_lua_proto_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_proto *p);

/* Index of the instruction before this address; UINT32_MAX: it is not in the code. */
uint32_t jsp_lua_proto_index(const struct jsp_lua_proto *p, uintptr_t savedpc);

/* The line of an instruction; 0: not known. */
uint32_t jsp_lua_proto_line(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                            uint32_t index);

/* Up to `room` bytes of the string object at `at`; its whole length; -1: it is none. */
int64_t jsp_lua_string(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room);

/* What the instruction at `index` calls the function that it calls, with a zero behind
 * it; false: nothing. */
bool jsp_lua_site_name(struct jsp_lua_read *r, const struct jsp_lua_proto *caller,
                       uint32_t index, char *to, size_t room);

/* A function that is made inside another one. */
struct jsp_lua_defined {
    uintptr_t proto;
    bool is_named;
    char name[80]; /* of the variable or field that it is put into */
};

/* The first that is made at or after the instruction `from`. Returns where to go on;
 * UINT32_MAX: there is no other. */
uint32_t jsp_lua_defined_next(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                              uint32_t from, struct jsp_lua_defined *out);

/* Is it an instruction that runs the called function in the same loop? */
bool jsp_lua_site_is_call(struct jsp_lua_read *r, const struct jsp_lua_proto *caller,
                          uint32_t index);

#endif
