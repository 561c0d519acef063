/* jit_site.c - names that LuaJIT's code has for functions where it makes them; see proto.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jit.h"
#include "proto.h"

enum { SITE_MAX_VARIABLES = 256 };

/* A collectable constant: they lie below `k`. 0: there is none. */
static uintptr_t site_constant(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t n)
{
    uintptr_t value;
    return n < p->n_k && jsp_lua_read(r, p->k - 8 * ((uintptr_t)n + 1), &value, sizeof value)
               ? value : 0;
}

/* Copy a zero-ended text; its length, or room where it is longer. */
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

/* The local variable in a slot that begins to live at this instruction. */
static bool site_local(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t slot,
                        uint32_t index, struct jsp_lua_defined *out)
{
    uintptr_t at = p->locvars;
    uint32_t begin = 0;
    for (uint32_t i = 0; at && i < SITE_MAX_VARIABLES; i++) {
        char name[sizeof out->name] = { 0 };
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
            return begin == index && is_named;
        }
    }
    return false;
}

static bool site_upvalue(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t n,
                          struct jsp_lua_defined *out)
{
    uintptr_t at = p->upvalues;
    for (; at && n; n--) {
        size_t length = site_cstring(r, at, out->name, sizeof out->name);
        if (length == 0 || length == sizeof out->name)
            return false;
        at += length + 1;
    }
    if (!at)
        return false;
    size_t length = site_cstring(r, at, out->name, sizeof out->name);
    return length > 0 && length < sizeof out->name;
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
    return op == JIT_BC_USETV && d == slot && site_upvalue(r, p, a, out);
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
        out->is_named = site_local(r, p, i >> 8 & 0xFF, at + 1, out) ||
                        (jsp_lua_read(r, p->code + 4ull * (at + 1), &next, sizeof next) &&
                         site_stored(r, p, next, i >> 8 & 0xFF, out));
        return at + 1;
    }
    return UINT32_MAX;
}
