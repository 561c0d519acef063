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

int64_t jsp_lua_string(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room)
{
    uint8_t head[JSP_LUA_TEXT_AT];
    if (!at || !jsp_lua_read(r, at, head, sizeof head))
        return -1;
    int64_t n = jsp_lua_string_length(head);
    size_t part = n < 0 ? 0 : (uint64_t)n < room ? (size_t)n : room;
    return n >= 0 && jsp_lua_read(r, at + JSP_LUA_TEXT_AT, to, part) ? n : -1;
}

bool jsp_lua_text(struct jsp_lua_read *r, uintptr_t at, char *to, size_t room)
{
    int64_t n = jsp_lua_string(r, at, to, room - 1);
    if (n <= 0)
        return false;
    to[(size_t)n < room - 1 ? (size_t)n : room - 1] = 0;
    return true;
}
