/* jit_proto.c - see jit_proto.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jit_proto.h"

enum { PROTO_MAX_CODE = 1 << 26, PROTO_MAX_VARIABLES = 256 };

static bool proto_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_jit_proto *p)
{
    uint8_t object[JIT_P_BYTES];
    if (!at || !jsp_lua_read(r, at, object, sizeof object) || object[JIT_KIND_AT] != JIT_PROTO)
        return false;
    *p = (struct jsp_jit_proto){
        .at = at, .code = at + JIT_P_BYTES, .k = jsp_lua_pointer(object, JIT_P_K),
        .chunk = jsp_lua_pointer(object, JIT_P_CHUNK),
        .lineinfo = jsp_lua_pointer(object, JIT_P_LINEINFO),
        .varinfo = jsp_lua_pointer(object, JIT_P_VARINFO),
        .uvinfo = jsp_lua_pointer(object, JIT_P_UVINFO),
        .n_code = jsp_lua_u32(object, JIT_P_N_CODE), .n_kgc = jsp_lua_u32(object, JIT_P_N_KGC),
        .first = jsp_lua_u32(object, JIT_P_FIRST), .n_lines = jsp_lua_u32(object, JIT_P_N_LINES),
    };
    return p->n_code < PROTO_MAX_CODE;
}

_Static_assert(sizeof(struct jsp_jit_proto) <= 8 * JSP_LUA_KEPT_WORDS, "it can be kept");

bool jsp_jit_proto_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_jit_proto *p)
{
    bool is_known;
    void *kept = jsp_lua_kept(r, at, &is_known);
    if (is_known) {
        memcpy(p, kept, sizeof *p);
        return true;
    }
    if (!proto_read(r, at, p)) {
        jsp_lua_kept_not(r, at);
        return false;
    }
    memcpy(kept, p, sizeof *p);
    return true;
}

void jsp_jit_function_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_jit_function *f)
{
    uint8_t object[JIT_F_BYTES];
    f->kind = JSP_JIT_NONE;
    if (!at || !jsp_lua_read(r, at, object, sizeof object) ||
        object[JIT_KIND_AT] != JIT_FUNCTION)
        return;
    uint8_t id = object[JIT_F_ID];
    if (id == JIT_ID_LUA) {
        uintptr_t code = jsp_lua_pointer(object, JIT_F_CODE);
        if (jsp_jit_proto_read(r, code - JIT_P_BYTES, &f->proto))
            f->kind = JSP_JIT_LUA;
        return;
    }
    f->kind = JSP_JIT_C;
    f->c = id == JIT_ID_C ? jsp_lua_pointer(object, JIT_F_C) : id;
}

uint32_t jsp_jit_index(const struct jsp_jit_proto *p, uintptr_t pc)
{
    uintptr_t bytes = pc - p->code;
    return pc < p->code || bytes & 3 || bytes >= 4ull * p->n_code ? UINT32_MAX
                                                                  : (uint32_t)(bytes / 4);
}

uint32_t jsp_jit_line(struct jsp_lua_read *r, const struct jsp_jit_proto *p, uint32_t index)
{
    uint32_t width = p->n_lines < 256 ? 1 : p->n_lines < 65536 ? 2 : 4, step = 0;
    if (index >= p->n_code || !p->lineinfo)
        return 0;
    if (index && !jsp_lua_read(r, p->lineinfo + (uintptr_t)(index - 1) * width, &step, width))
        return 0;
    return p->first + step; /* little-endian, as the machine of these layouts is */
}

int64_t jsp_jit_string(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room)
{
    uint8_t head[JIT_S_TEXT];
    if (!at || !jsp_lua_read(r, at, head, sizeof head) || head[JIT_KIND_AT] != JIT_STRING)
        return -1;
    uint32_t n = jsp_lua_u32(head, JIT_S_LENGTH);
    return jsp_lua_read(r, at + JIT_S_TEXT, to, n < room ? n : room) ? (int64_t)n : -1;
}

/* -- Names where functions are made ------------------------------------------- */

static bool proto_text(struct jsp_lua_read *r, uintptr_t string, struct jsp_jit_defined *out)
{
    int64_t n = jsp_jit_string(r, string, out->name, sizeof out->name - 1);
    if (n <= 0)
        return false;
    out->name[(size_t)n < sizeof out->name - 1 ? (size_t)n : sizeof out->name - 1] = 0;
    return true;
}

/* A collectable constant: they lie below `k`. 0: there is none. */
static uintptr_t proto_constant(struct jsp_lua_read *r, const struct jsp_jit_proto *p, uint32_t n)
{
    uintptr_t value;
    return n < p->n_kgc && jsp_lua_read(r, p->k - 8 * ((uintptr_t)n + 1), &value, sizeof value)
               ? value : 0;
}

/* Copy a zero-ended text; its length, or room where it is longer. */
static size_t proto_cstring(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room)
{
    size_t n = 0;
    while (n < room && jsp_lua_read(r, at + n, to + n, 1) && to[n])
        n++;
    if (n < room)
        to[n] = 0;
    return n;
}

static uint32_t proto_uleb(struct jsp_lua_read *r, uintptr_t *at)
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
static bool proto_local(struct jsp_lua_read *r, const struct jsp_jit_proto *p, uint32_t slot,
                        uint32_t index, struct jsp_jit_defined *out)
{
    uintptr_t at = p->varinfo;
    uint32_t begin = 0;
    for (uint32_t i = 0; at && i < PROTO_MAX_VARIABLES; i++) {
        char name[sizeof out->name] = { 0 };
        size_t n = 0;
        if (!jsp_lua_read(r, at, name, 1) || !name[0])
            return false;
        bool is_named = (uint8_t)name[0] >= JIT_VARNAMES;
        if (is_named && (n = proto_cstring(r, at, name, sizeof name)) == sizeof name)
            return false;
        at += n + 1;
        begin += proto_uleb(r, &at);
        uint32_t end = begin + proto_uleb(r, &at);
        if (begin > index)
            return false;
        if (index < end && slot-- == 0) {
            memcpy(out->name, name, n + 1);
            return begin == index && is_named;
        }
    }
    return false;
}

static bool proto_upvalue(struct jsp_lua_read *r, const struct jsp_jit_proto *p, uint32_t n,
                          struct jsp_jit_defined *out)
{
    uintptr_t at = p->uvinfo;
    for (; at && n; n--) {
        size_t length = proto_cstring(r, at, out->name, sizeof out->name);
        if (length == 0 || length == sizeof out->name)
            return false;
        at += length + 1;
    }
    if (!at)
        return false;
    size_t length = proto_cstring(r, at, out->name, sizeof out->name);
    return length > 0 && length < sizeof out->name;
}

/* Instructions: opcode, A, then C and B or both as D. */
static bool proto_stored(struct jsp_lua_read *r, const struct jsp_jit_proto *p, uint32_t next,
                         uint32_t slot, struct jsp_jit_defined *out)
{
    uint32_t op = next & 0xFF, a = next >> 8 & 0xFF, c = next >> 16 & 0xFF, d = next >> 16;
    if (op == JIT_BC_GSET && a == slot)
        return proto_text(r, proto_constant(r, p, d), out);
    if (op == JIT_BC_TSETS && a == slot)
        return proto_text(r, proto_constant(r, p, c), out);
    return op == JIT_BC_USETV && d == slot && proto_upvalue(r, p, a, out);
}

uint32_t jsp_jit_defined_next(struct jsp_lua_read *r, const struct jsp_jit_proto *p,
                              uint32_t from, struct jsp_jit_defined *out)
{
    uint32_t i, next;
    for (uint32_t at = from; at < p->n_code; at++) {
        if (!jsp_lua_read(r, p->code + 4ull * at, &i, sizeof i))
            return UINT32_MAX;
        if ((i & 0xFF) != JIT_BC_FNEW)
            continue;
        out->proto = proto_constant(r, p, i >> 16);
        out->is_named = proto_local(r, p, i >> 8 & 0xFF, at + 1, out) ||
                        (jsp_lua_read(r, p->code + 4ull * (at + 1), &next, sizeof next) &&
                         proto_stored(r, p, next, i >> 8 & 0xFF, out));
        return at + 1;
    }
    return UINT32_MAX;
}
