/* proto.c - see proto.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "proto.h"

enum { PROTO_MAX_CODE = 1 << 26 };

_Static_assert(sizeof(struct jsp_lua_proto) <= 8 * JSP_LUA_KEPT_WORDS, "it can be kept");

static bool proto_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_proto *p)
{
    uint8_t object[JSP_LUA_PROTO_MOST];
    return at && jsp_lua_read(r, at, object, jsp_lua_proto_bytes()) &&
           jsp_lua_proto_parse(object, at, p) && p->n_code < PROTO_MAX_CODE;
}

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

uint32_t jsp_lua_proto_index(const struct jsp_lua_proto *p, uintptr_t next)
{
    uintptr_t bytes = next - p->code;
    if (next <= p->code || bytes > 4ull * p->n_code || bytes & 3)
        return UINT32_MAX;
    return (uint32_t)(bytes / 4 - 1);
}

struct jsp_lua_fact *jsp_lua_proto_fact(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                                        uint32_t index, enum jsp_lua_fact_kind kind)
{
    struct jsp_lua_fact key = { p->key.at, r->walk, index << 1 | (uint32_t)kind, 0 };
    uint64_t hash = (key.of + 4ull * key.index) * 0x9E3779B97F4A7C15u;
    struct jsp_lua_fact *fact = &r->facts[hash >> 40 & (JSP_LUA_FACTS - 1)];
    if (fact->of != key.of || fact->walk != key.walk || fact->index != key.index)
        *fact = key;
    return fact;
}

uint32_t jsp_lua_proto_line(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                            uint32_t index)
{
    struct jsp_lua_fact *fact = jsp_lua_proto_fact(r, p, index, JSP_LUA_FACT_LINE);
    if (!fact->value)
        fact->value = jsp_lua_proto_line_read(r, p, index);
    return fact->value;
}

int64_t jsp_lua_string(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room)
{
    uint8_t head[JSP_LUA_TEXT_AT];
    if (!at || !jsp_lua_read(r, at, head, sizeof head))
        return -1;
    uintptr_t text = at + JSP_LUA_TEXT_AT;
    int64_t n = jsp_lua_string_length(head);
    if (n >= 0 && jsp_lua_string_is_elsewhere(head) &&
        !jsp_lua_read(r, text, &text, sizeof text))
        return -1;
    size_t part = n < 0 ? 0 : (uint64_t)n < room ? (size_t)n : room;
    return n >= 0 && jsp_lua_read(r, text, to, part) ? n : -1;
}

bool jsp_lua_text(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room)
{
    int64_t n = jsp_lua_string(r, at, to, room - 1);
    if (n <= 0)
        return false;
    to[(size_t)n < room - 1 ? (size_t)n : room - 1] = 0;
    return true;
}
