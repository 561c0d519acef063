/* proto.h - what Lua functions say of themselves, read safely, whichever Lua it is.
 *
 * proto.c holds what all versions share; proto.c and site.c know PUC Lua by the
 * numbers of its layout header (-DJSPROF_LUA_LAYOUT), proto.c and site.c LuaJIT.
 * Counts are as found: users bound them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_PROTO_H
#define JSPROF_LUA_PROTO_H

#include "labels.h"
#include "read.h"

/* A prototype: the code that all closures of one function share. */
struct jsp_lua_proto {
    struct jsp_lua_key key; /* at: the prototype; code; source: chunk name; line: the first */
    uintptr_t code, k, lineinfo, abslineinfo, locvars, upvalues, p;
    uint32_t n_p, n_k, n_code, n_lineinfo, n_abslineinfo, n_locvars, n_upvalues,
        n_params;
    uint32_t n_after_closure; /* instructions behind the one that makes it */
};

/* False: there is no prototype at `at`. */
bool jsp_lua_proto_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_proto *p);

/* Index of the instruction before this address; UINT32_MAX: it is not in the code. */
uint32_t jsp_lua_proto_index(const struct jsp_lua_proto *p, uintptr_t next);

/* Where a fact about an instruction of this prototype, which was read in this walk, stands,
 * or is to be put: then its value is 0. */
enum jsp_lua_fact_kind { JSP_LUA_FACT_LINE, JSP_LUA_FACT_CALL };
struct jsp_lua_fact *jsp_lua_proto_fact(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                                        uint32_t index, enum jsp_lua_fact_kind kind);

/* The line of an instruction; 0: not known. */
uint32_t jsp_lua_proto_line(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                            uint32_t index);

/* Up to `room` bytes of the string object at `at`; its whole length; -1: it is none. */
int64_t jsp_lua_string(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room);

/* The same with a zero behind it, cut to fit; false: it is none, or empty. */
bool jsp_lua_text(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room);

/* What a function object is. */
enum jsp_lua_kind { JSP_LUA_UNKNOWN, JSP_LUA_C, JSP_LUA_LUA };
struct jsp_lua_function {
    enum jsp_lua_kind kind;
    uintptr_t closure;    /* 0: none, a light C function */
    uintptr_t c;          /* the C function, or a number that stands for one of LuaJIT's own */
    uint32_t n_upvalues;  /* of a C function of PUC Lua */
    struct jsp_lua_proto proto;
};
void jsp_lua_function_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_function *f);

/* A function that is made inside another one. */
struct jsp_lua_defined {
    uintptr_t proto;
    bool is_named;
    char name[JSP_LUA_NAME]; /* of the variable or field that it is put into */
};

/* The first that is made at or after the instruction `from`. Returns where to go on;
 * UINT32_MAX: there is no other. */
uint32_t jsp_lua_defined_next(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                              uint32_t from, struct jsp_lua_defined *out);

/* -- What proto.c asks of each version -------------------------------------------- */

enum { JSP_LUA_PROTO_MOST = 128, JSP_LUA_TEXT_AT = 24 };

/* How many bytes of a prototype are looked at. */
size_t jsp_lua_proto_bytes(void);

/* Of these bytes, which were read at `at`; false: they are no prototype. */
bool jsp_lua_proto_parse(const uint8_t *object, uintptr_t at, struct jsp_lua_proto *p);

/* The line of an instruction, from memory; 0: not known. */
uint32_t jsp_lua_proto_line_read(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                                 uint32_t index);

/* The length that the JSP_LUA_TEXT_AT bytes before a string's text say; -1: they are of none. */
int64_t jsp_lua_string_length(const uint8_t *head);

/* Of such a string: does a pointer to the text lie where others have the text? */
bool jsp_lua_string_is_elsewhere(const uint8_t *head);

/* What tells the prototype apart whose bytes these are, as far as it does: see labels.h. */
struct jsp_lua_key jsp_lua_proto_key(const void *object, uintptr_t at);

/* What the instruction at `index` calls the function that it calls, with a zero behind
 * it; false: nothing. A parameter of the caller is no name: it is another function each time. */
bool jsp_lua_site_name(struct jsp_lua_read *r, const struct jsp_lua_proto *caller,
                       uint32_t index, char *to, size_t room);

/* -- PUC Lua only ------------------------------------------------------------------- */

/* Is it an instruction that runs the called function in the same loop? */
bool jsp_lua_site_is_call(struct jsp_lua_read *r, const struct jsp_lua_proto *caller,
                          uint32_t index);

#endif
