/* site.c - names of functions in LuaJIT's code, where it makes and where it calls them;
 * see proto.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jit/layout.h"
#include "proto.h"

enum { SITE_MAX_VARIABLES = 256, SITE_MAX_BACK = 400 };

_Static_assert(sizeof(((struct jsp_lua_defined *)0)->name) == JSP_LUA_NAME, "names fit");

struct site_text {
    char name[JSP_LUA_NAME];
    uint32_t begin; /* index of an instruction */
};

/* Return a collectable constant: they lie below `k`. 0: there is none. */
static uintptr_t site_constant(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t n)
{
    uintptr_t value;
    return n < p->n_k && jsp_lua_read(r, p->k - 8 * ((uintptr_t)n + 1), &value, sizeof value)
               ? value : 0;
}

/* Copy a zero-ended text. Return its length, or `room` if it is longer. */
static size_t site_cstring(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room)
{
    size_t n = 0;
    while (n < room && jsp_lua_read(r, at + n, to + n, 1) && to[n])
        n++;
    if (n < room)
        to[n] = 0;
    return n;
}

static uint32_t site_uleb(struct jsp_lua_read *r, uintptr_t *at)
{
    uint32_t value = 0;
    uint8_t byte = 0x80;
    for (uint32_t shift = 0; shift < 32 && byte & 0x80; shift += 7) {
        if (!jsp_lua_read(r, (*at)++, &byte, 1))
            return value;
        value |= (uint32_t)(byte & 0x7F) << shift;
    }
    return value;
}

/* Copy the name of the local variable in a slot when this instruction runs, and find
 * where its life begins. */
static bool site_variable(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t slot,
                          uint32_t index, struct site_text *out)
{
    uintptr_t at = p->locvars;
    uint32_t begin = 0;
    for (uint32_t i = 0; at && i < SITE_MAX_VARIABLES; i++) {
        char name[JSP_LUA_NAME] = { 0 };
        size_t n = 0;
        if (!jsp_lua_read(r, at, name, 1) || !name[0])
            return false;
        bool is_named = (uint8_t)name[0] >= JIT_VARNAMES;
        if (is_named && (n = site_cstring(r, at, name, sizeof name)) == sizeof name)
            return false;
        at += n + 1;
        begin += site_uleb(r, &at);
        uint32_t end = begin + site_uleb(r, &at);
        if (begin > index)
            return false;
        if (index < end && slot-- == 0) {
            memcpy(out->name, name, n + 1);
            out->begin = begin;
            return is_named;
        }
    }
    return false;
}

static bool site_local(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t slot,
                       uint32_t index, char *to)
{
    struct site_text found;
    if (!site_variable(r, p, slot, index, &found) || found.begin != index)
        return false;
    memcpy(to, found.name, sizeof found.name);
    return true;
}

bool jsp_lua_upvalue_name(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t n,
                          char *to)
{
    uintptr_t at = p->upvalues;
    for (; at && n; n--) {
        size_t length = site_cstring(r, at, to, JSP_LUA_NAME);
        if (length == 0 || length == JSP_LUA_NAME)
            return false;
        at += length + 1;
    }
    if (!at)
        return false;
    size_t length = site_cstring(r, at, to, JSP_LUA_NAME);
    return length > 0 && length < JSP_LUA_NAME;
}

/* Instructions: opcode, A, then C and B or both as D. */
static bool site_stored(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t next,
                         uint32_t slot, struct jsp_lua_defined *out)
{
    uint32_t op = next & 0xFF, a = next >> 8 & 0xFF, c = next >> 16 & 0xFF, d = next >> 16;
    if (op == JIT_BC_GSET && a == slot)
        return jsp_lua_text(r, site_constant(r, p, d), out->name, sizeof out->name);
    if (op == JIT_BC_TSETS && a == slot)
        return jsp_lua_text(r, site_constant(r, p, c), out->name, sizeof out->name);
    return op == JIT_BC_USETV && d == slot && jsp_lua_upvalue_name(r, p, a, out->name);
}

uint32_t jsp_lua_defined_next(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                              uint32_t from, struct jsp_lua_defined *out)
{
    uint32_t i, next;
    for (uint32_t at = from; at < p->n_code; at++) {
        if (!jsp_lua_read(r, p->code + 4ull * at, &i, sizeof i))
            return UINT32_MAX;
        if ((i & 0xFF) != JIT_BC_FNEW)
            continue;
        out->proto = site_constant(r, p, i >> 16);
        out->is_named = site_local(r, p, i >> 8 & 0xFF, at + 1, out->name) ||
                        (jsp_lua_read(r, p->code + 4ull * (at + 1), &next, sizeof next) &&
                         site_stored(r, p, next, i >> 8 & 0xFF, out));
        return at + 1;
    }
    return UINT32_MAX;
}

/* -- Where functions are called -------------------------------------------------------- */

/* Return whether an instruction with this opcode writes the slot in its A, and no
 * other. */
static bool site_is_write(uint32_t op)
{
    return (op >= JIT_BC_MOV && op <= JIT_BC_UGET) ||
           (op >= JIT_BC_FNEW && op <= JIT_BC_TGETR && op != JIT_BC_GSET);
}

/* Copy the name of the variable or field from which instruction `i` loads its slot. */
static bool site_loaded(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t index,
                        uint32_t i, char *to)
{
    uint32_t d = i >> 16;
    struct site_text found;
    switch (i & 0xFF) {
    case JIT_BC_MOV:
        if (d < p->n_params || !site_variable(r, p, d, index, &found))
            return false;
        memcpy(to, found.name, sizeof found.name);
        return true;
    case JIT_BC_UGET: return jsp_lua_upvalue_name(r, p, d, to);
    case JIT_BC_GGET: return jsp_lua_text(r, site_constant(r, p, d), to, JSP_LUA_NAME);
    case JIT_BC_TGETS: return jsp_lua_text(r, site_constant(r, p, d & 0xFF), to, JSP_LUA_NAME);
    default: return false;
    }
}

bool jsp_lua_site_name(struct jsp_lua_read *r, const struct jsp_lua_proto *caller,
                       uint32_t index, char *to, size_t room)
{
    uint32_t call, i;
    if (room < JSP_LUA_NAME || index >= caller->n_code ||
        !jsp_lua_read(r, caller->code + 4ull * index, &call, sizeof call) ||
        ((call & 0xFF) != JIT_BC_CALL && (call & 0xFF) != JIT_BC_CALLM))
        return false;
    uint32_t slot = call >> 8 & 0xFF;
    for (uint32_t back = 1; back <= index && back <= SITE_MAX_BACK; back++) {
        if (!jsp_lua_read(r, caller->code + 4ull * (index - back), &i, sizeof i))
            return false;
        uint32_t op = i & 0xFF, a = i >> 8 & 0xFF;
        if (op >= JIT_BC_CALLM && op <= JIT_BC_ITERN && a <= slot)
            return false; /* the value is a result of this call */
        if (a == slot && site_is_write(op))
            return site_loaded(r, caller, index - back, i, to);
    }
    return false;
}
