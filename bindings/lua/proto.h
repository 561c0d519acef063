/* proto.h - facts about Lua functions, read safely, for every Lua version.
 *
 * proto.c of this folder holds what all versions share. puc/proto.c and puc/site.c know
 * PUC Lua by the numbers of its layout header (-DJSPROF_LUA_LAYOUT); jit/proto.c and
 * jit/site.c know LuaJIT. Counts are as found in memory: their users limit them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_PROTO_H
#define JSPROF_LUA_PROTO_H

#include "labels.h"
#include "read.h"

/* A prototype: the code that all closures of one function share. */
struct jsp_lua_proto {
    struct jsp_lua_key key; /* address, code, chunk name, first line */
    uintptr_t code, k, lineinfo, abslineinfo, locvars, upvalues, p;
    uint32_t n_p, n_k, n_code, n_lineinfo, n_abslineinfo, n_locvars, n_upvalues,
        n_params;
    uint32_t n_after_closure; /* instructions after the one that makes it */
};

/* Read the prototype at `at`. Return false if there is none. */
bool jsp_lua_proto_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_proto *p);

/* Return the index of the instruction before this address, or UINT32_MAX if it is not in
 * the code. */
uint32_t jsp_lua_proto_index(const struct jsp_lua_proto *p, uintptr_t next);

/* Return the place of a fact about an instruction of this prototype, which was read in
 * this walk. If its value is 0, the caller may store the fact there. */
enum jsp_lua_fact_kind { JSP_LUA_FACT_LINE, JSP_LUA_FACT_CALL };
struct jsp_lua_fact *jsp_lua_proto_fact(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                                        uint32_t index, enum jsp_lua_fact_kind kind);

/* Return the line of an instruction, or 0 if it is not known. */
uint32_t jsp_lua_proto_line(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                            uint32_t index);

/* Copy up to `room` bytes of the string object at `at`. Return its whole length, or -1 if
 * it is no string. */
int64_t jsp_lua_string(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room);

/* The same with a zero at the end, cut to fit. Return false if it is no string, or
 * empty. */
bool jsp_lua_text(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room);

/* The kind of a function object. */
enum jsp_lua_kind { JSP_LUA_UNKNOWN, JSP_LUA_C, JSP_LUA_LUA };
struct jsp_lua_function {
    enum jsp_lua_kind kind;
    uintptr_t closure;    /* 0: none, a light C function */
    uintptr_t c;          /* the C function, or the number of one of LuaJIT's own */
    uint32_t n_upvalues;
    struct jsp_lua_proto proto;
};
void jsp_lua_function_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_function *f);

/* Read the Lua function that is upvalue `n` of a Lua function. False: it holds none. */
bool jsp_lua_upvalue_read(struct jsp_lua_read *r, const struct jsp_lua_function *f, uint32_t n,
                          struct jsp_lua_function *out);

/* Copy the name of an upvalue, with a zero after it; `to` has room for JSP_LUA_NAME. */
bool jsp_lua_upvalue_name(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t n,
                          char *to);

/* A function that is made inside another one. */
struct jsp_lua_defined {
    uintptr_t proto;
    bool is_named;
    char name[JSP_LUA_NAME]; /* name of the variable or field that receives it */
};

/* Find the first function that is made at or after the instruction `from`. Return where
 * to continue, or UINT32_MAX if there is no other. */
uint32_t jsp_lua_defined_next(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                              uint32_t from, struct jsp_lua_defined *out);

/* -- What proto.c asks of each version -------------------------------------------- */

enum { JSP_LUA_PROTO_MOST = 128, JSP_LUA_TEXT_AT = 24 };

/* The number of a prototype's bytes that are read. */
size_t jsp_lua_proto_bytes(void);

/* Decode these bytes, which were read at `at`. Return false if they are no prototype. */
bool jsp_lua_proto_parse(const uint8_t *object, uintptr_t at, struct jsp_lua_proto *p);

/* Read the line of an instruction from memory. Return 0 if it is not known. */
uint32_t jsp_lua_proto_line_read(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                                 uint32_t index);

/* Return the length that the JSP_LUA_TEXT_AT bytes before a string's text contain, or -1
 * if they belong to no string. */
int64_t jsp_lua_string_length(const uint8_t *head);

/* Return whether a pointer to the text is where such a string has it, if it has one. */
bool jsp_lua_string_is_elsewhere(const uint8_t *head);

/* Return the key of the prototype with these bytes, as far as they identify it: see
 * labels.h. */
struct jsp_lua_key jsp_lua_proto_key(const void *object, uintptr_t at);

/* Write the name by which the instruction at `index` calls its function, with a zero at
 * the end. Return false if there is none. A parameter of the caller is no name, because
 * it is another function each time. */
bool jsp_lua_site_name(struct jsp_lua_read *r, const struct jsp_lua_proto *caller,
                       uint32_t index, char *to, size_t room);

/* -- PUC Lua only ------------------------------------------------------------------- */

/* Return whether the instruction runs the called function in the same loop. */
bool jsp_lua_site_is_call(struct jsp_lua_read *r, const struct jsp_lua_proto *caller,
                          uint32_t index);

#endif
