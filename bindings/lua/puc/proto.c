/* proto.c - the functions of PUC Lua; see proto.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "proto.h"

#include JSPROF_LUA_LAYOUT

enum {
    PROTO_TAG_AT = 8,          /* of a value, and in every collectable object */
    PROTO_VALUE = 16,          /* bytes of one */
    PROTO_TAG_BITS = 0x3F,
    PROTO_LINES_BETWEEN = 128, /* instructions between two absolute lines */
    PROTO_ABSLINE_BYTES = 8,   /* int pc, int line */
};

/* A field that this version does not have is zero. */
static uintptr_t proto_pointer(const uint8_t *object, uint16_t offset)
{
    return offset == LAYOUT_NONE ? 0 : jsp_lua_pointer(object, offset);
}

size_t jsp_lua_proto_bytes(void)
{
    _Static_assert(sizeof(uintptr_t) == 8, "the layouts are those of 64-bit machines");
    return layout.proto_bytes;
}

struct jsp_lua_key jsp_lua_proto_key(const void *object, uintptr_t at)
{
    return (struct jsp_lua_key){ at, jsp_lua_pointer(object, layout.code),
                                 jsp_lua_pointer(object, layout.source),
                                 jsp_lua_u32(object, layout.linedefined) };
}

bool jsp_lua_proto_parse(const uint8_t *object, uintptr_t at, struct jsp_lua_proto *p)
{
    *p = (struct jsp_lua_proto){
        .key = jsp_lua_proto_key(object, at), .code = jsp_lua_pointer(object, layout.code),
        .k = jsp_lua_pointer(object, layout.k),
        .lineinfo = jsp_lua_pointer(object, layout.lineinfo),
        .abslineinfo = proto_pointer(object, layout.abslineinfo),
        .locvars = jsp_lua_pointer(object, layout.locvars),
        .upvalues = jsp_lua_pointer(object, layout.upvalues),
        .p = jsp_lua_pointer(object, layout.p), .n_p = jsp_lua_u32(object, layout.n_p),
        .n_after_closure = layout.nups ? object[layout.nups] : 0,
        .n_k = jsp_lua_u32(object, layout.n_k),
        .n_code = jsp_lua_u32(object, layout.n_code),
        .n_lineinfo = jsp_lua_u32(object, layout.n_lineinfo),
        .n_abslineinfo = layout.n_abslineinfo ? jsp_lua_u32(object, layout.n_abslineinfo) : 0,
        .n_locvars = jsp_lua_u32(object, layout.n_locvars),
        .n_upvalues = jsp_lua_u32(object, layout.n_upvalues),
        .n_params = object[layout.n_params],
    };
    return object[PROTO_TAG_AT] == layout.proto_tag;
}

static bool proto_is_lua(const uint8_t *closure)
{
    return layout.is_c ? !closure[layout.is_c]
                       : (closure[PROTO_TAG_AT] & PROTO_TAG_BITS) ==
                             (layout.tag_lua & PROTO_TAG_BITS);
}

static bool proto_is_closure(const uint8_t *object)
{
    uint8_t tag = object[PROTO_TAG_AT] & PROTO_TAG_BITS;
    return tag == (layout.tag_lua & PROTO_TAG_BITS) || tag == (layout.tag_c & PROTO_TAG_BITS);
}

void jsp_lua_function_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_function *f)
{
    uint8_t object[64];
    f->kind = JSP_LUA_UNKNOWN;
    if (!at || !jsp_lua_read(r, at, object, layout.closure_upvalues) ||
        !proto_is_closure(object))
        return;
    uintptr_t body = jsp_lua_pointer(object, layout.closure_proto);
    f->closure = at;
    f->n_upvalues = object[layout.closure_n];
    if (!proto_is_lua(object)) {
        f->kind = JSP_LUA_C;
        f->c = body;
    } else if (jsp_lua_proto_read(r, body, &f->proto)) {
        f->kind = JSP_LUA_LUA;
    }
}

bool jsp_lua_upvalue_read(struct jsp_lua_read *r, const struct jsp_lua_function *f, uint32_t n,
                          struct jsp_lua_function *out)
{
    uintptr_t at = f->closure + layout.closure_upvalues + 8ull * n;
    uint8_t value[PROTO_VALUE];
    if (n >= f->n_upvalues || !jsp_lua_read(r, at, &at, sizeof at) ||
        !jsp_lua_read(r, at + layout.upvalue_value, &at, sizeof at) ||
        !jsp_lua_read(r, at, value, sizeof value) || value[PROTO_TAG_AT] != layout.tag_lua)
        return false;
    jsp_lua_function_read(r, jsp_lua_pointer(value, 0), out);
    return out->kind == JSP_LUA_LUA;
}

/* Return the last absolute line at or before `index`. *from is its instruction, or -1 for
 * the function's start. */
static uint32_t proto_line_base(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                                uint32_t index, int64_t *from)
{
    uint32_t line = (uint32_t)p->key.line, i = index / PROTO_LINES_BETWEEN;
    uint8_t entry[PROTO_ABSLINE_BYTES];

    *from = -1;
    for (i = i ? i - 1 : 0; i < p->n_abslineinfo; i++) {
        if (!jsp_lua_read(r, p->abslineinfo + (uintptr_t)i * sizeof entry, entry, sizeof entry) ||
            jsp_lua_u32(entry, 0) > index)
            break;
        *from = jsp_lua_u32(entry, 0);
        line = jsp_lua_u32(entry, 4);
    }
    return line;
}

/* Each instruction has one signed byte: the difference to the line before. */
static uint32_t proto_line_sum(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                               uint32_t index)
{
    int8_t step[2 * PROTO_LINES_BETWEEN];
    int64_t from;
    uint32_t line = proto_line_base(r, p, index, &from);
    uint64_t n = (uint64_t)(index - from);

    if (!n)
        return line;
    if (n > sizeof step || !jsp_lua_read(r, p->lineinfo + (uintptr_t)(from + 1), step, n))
        return 0;
    for (uint64_t i = 0; i < n; i++)
        line = (uint32_t)((int64_t)line + step[i]);
    return line;
}

uint32_t jsp_lua_proto_line_read(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                                 uint32_t index)
{
    uint8_t line[4];
    if (index >= p->n_lineinfo || !p->lineinfo)
        return 0;
    if (layout.line_bytes == 1)
        return proto_line_sum(r, p, index);
    if (!jsp_lua_read(r, p->lineinfo + 4ull * index, line, sizeof line))
        return 0;
    return jsp_lua_u32(line, 0);
}

int64_t jsp_lua_string_length(const uint8_t *head)
{
    uint8_t tag = head[PROTO_TAG_AT];
    if ((tag & 0xF) != layout.tag_string)
        return -1;
    if (layout.short_length && tag == layout.tag_string)
        return head[layout.short_length] <= INT8_MAX ? head[layout.short_length] : -1;
    uint64_t n = jsp_lua_pointer(head, layout.long_length);
    return n > INT64_MAX ? -1 : (int64_t)n;
}

bool jsp_lua_string_is_elsewhere(const uint8_t *head)
{
    return layout.long_elsewhere && head[PROTO_TAG_AT] != layout.tag_string;
}
