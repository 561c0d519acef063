/* proto.c - see proto.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "proto.h"

#include JSPROF_LUA_LAYOUT

enum {
    PROTO_TAG_AT = 8, /* in every collectable object */
    PROTO_TEXT_AT = 24,
    PROTO_MAX_CODE = 1 << 28,
    PROTO_LINES_BETWEEN = 128, /* instructions from one absolute line to the next */
    PROTO_ABSLINE_BYTES = 8,   /* int pc, int line */
};

/* A field that this version does not have is zero. */
static uintptr_t proto_pointer(const uint8_t *object, uint16_t offset)
{
    return offset == LAYOUT_NONE ? 0 : jsp_lua_pointer(object, offset);
}

static bool proto_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_proto *p)
{
    uint8_t object[256];
    if (!at || !jsp_lua_read(r, at, object, layout.proto_bytes) ||
        object[PROTO_TAG_AT] != layout.proto_tag)
        return false;
    *p = (struct jsp_lua_proto){
        .at = at, .k = jsp_lua_pointer(object, layout.k),
        .code = jsp_lua_pointer(object, layout.code),
        .lineinfo = jsp_lua_pointer(object, layout.lineinfo),
        .abslineinfo = proto_pointer(object, layout.abslineinfo),
        .locvars = jsp_lua_pointer(object, layout.locvars),
        .source = jsp_lua_pointer(object, layout.source),
        .upvalues = jsp_lua_pointer(object, layout.upvalues),
        .p = jsp_lua_pointer(object, layout.p), .n_p = jsp_lua_u32(object, layout.n_p),
        .n_after_closure = layout.nups ? object[layout.nups] : 0,
        .n_k = jsp_lua_u32(object, layout.n_k),
        .n_code = jsp_lua_u32(object, layout.n_code),
        .n_lineinfo = jsp_lua_u32(object, layout.n_lineinfo),
        .n_abslineinfo = layout.n_abslineinfo ? jsp_lua_u32(object, layout.n_abslineinfo) : 0,
        .n_locvars = jsp_lua_u32(object, layout.n_locvars),
        .n_upvalues = jsp_lua_u32(object, layout.n_upvalues),
        .linedefined = jsp_lua_u32(object, layout.linedefined),
    };
    return p->n_code < PROTO_MAX_CODE;
}

_Static_assert(sizeof(struct jsp_lua_proto) <= 8 * JSP_LUA_KEPT_WORDS, "it can be kept");

bool jsp_lua_proto_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_proto *p)
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

uint32_t jsp_lua_proto_index(const struct jsp_lua_proto *p, uintptr_t savedpc)
{
    uintptr_t bytes = savedpc - p->code;
    if (savedpc <= p->code || bytes > 4ull * p->n_code || bytes & 3)
        return UINT32_MAX;
    return (uint32_t)(bytes / 4 - 1);
}

/* The last absolute line at or before `index`: *from is its instruction, -1 the start. */
static uint32_t proto_line_base(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                                uint32_t index, int64_t *from)
{
    uint32_t line = p->linedefined, i = index / PROTO_LINES_BETWEEN;
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

/* One signed byte an instruction: the difference to the line of the one before. */
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

uint32_t jsp_lua_proto_line(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
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

int64_t jsp_lua_string(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room)
{
    uint8_t head[PROTO_TEXT_AT];
    if (!at || !jsp_lua_read(r, at, head, sizeof head) ||
        (head[PROTO_TAG_AT] & 0xF) != layout.tag_string)
        return -1;
    bool is_short = layout.short_length && head[PROTO_TAG_AT] == layout.tag_string;
    uint64_t n = is_short ? head[layout.short_length] : jsp_lua_pointer(head, layout.long_length);
    size_t part = n < room ? (size_t)n : room;
    if (n > INT64_MAX || !jsp_lua_read(r, at + PROTO_TEXT_AT, to, part))
        return -1;
    return (int64_t)n;
}
