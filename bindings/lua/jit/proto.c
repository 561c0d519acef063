/* proto.c - the functions of LuaJIT; see proto.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jit/layout.h"
#include "proto.h"

size_t jsp_lua_proto_bytes(void)
{
    return JIT_P_BYTES;
}

/* The code follows the prototype directly, so its length takes the place of its
 * address. */
struct jsp_lua_key jsp_lua_proto_key(const void *object, uintptr_t at)
{
    return (struct jsp_lua_key){ at, jsp_lua_u32(object, JIT_P_N_CODE),
                                 jsp_lua_pointer(object, JIT_P_CHUNK),
                                 jsp_lua_u32(object, JIT_P_FIRST) };
}

bool jsp_lua_proto_parse(const uint8_t *object, uintptr_t at, struct jsp_lua_proto *p)
{
    *p = (struct jsp_lua_proto){
        .key = jsp_lua_proto_key(object, at), .code = at + JIT_P_BYTES,
        .k = jsp_lua_pointer(object, JIT_P_K),
        .lineinfo = jsp_lua_pointer(object, JIT_P_LINEINFO),
        .locvars = jsp_lua_pointer(object, JIT_P_VARINFO),
        .upvalues = jsp_lua_pointer(object, JIT_P_UVINFO),
        .n_code = jsp_lua_u32(object, JIT_P_N_CODE), .n_k = jsp_lua_u32(object, JIT_P_N_KGC),
        .n_lineinfo = jsp_lua_u32(object, JIT_P_N_LINES),
        .n_params = object[JIT_P_N_PARAMS],
    };
    return object[JIT_KIND_AT] == JIT_PROTO;
}

void jsp_lua_function_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_function *f)
{
    uint8_t object[JIT_F_BYTES];
    f->kind = JSP_LUA_UNKNOWN;
    if (!at || !jsp_lua_read(r, at, object, sizeof object) ||
        object[JIT_KIND_AT] != JIT_FUNCTION)
        return;
    uint8_t id = object[JIT_F_ID];
    f->closure = at;
    f->n_upvalues = object[JIT_F_N_UPVALUES];
    if (id == JIT_ID_LUA) {
        uintptr_t code = jsp_lua_pointer(object, JIT_F_CODE);
        if (jsp_lua_proto_read(r, code - JIT_P_BYTES, &f->proto))
            f->kind = JSP_LUA_LUA;
        return;
    }
    f->kind = JSP_LUA_C;
    f->c = id == JIT_ID_C ? jsp_lua_pointer(object, JIT_F_C) : id;
}

bool jsp_lua_upvalue_read(struct jsp_lua_read *r, const struct jsp_lua_function *f, uint32_t n,
                          struct jsp_lua_function *out)
{
    uintptr_t at = f->closure + JIT_F_UPVALUES + 8ull * n;
    uint64_t value;
    if (n >= f->n_upvalues || !jsp_lua_read(r, at, &at, sizeof at) ||
        !jsp_lua_read(r, at + JIT_U_VALUE, &at, sizeof at) ||
        !jsp_lua_read(r, at, &value, sizeof value) || value >> 47 != JIT_TAG_FUNCTION)
        return false;
    jsp_lua_function_read(r, value & JIT_POINTER, out);
    return out->kind == JSP_LUA_LUA;
}

uint32_t jsp_lua_proto_line_read(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                                 uint32_t index)
{
    uint32_t width = p->n_lineinfo < 256 ? 1 : p->n_lineinfo < 65536 ? 2 : 4, step = 0;
    if (index >= p->n_code || !p->lineinfo)
        return 0;
    if (index && !jsp_lua_read(r, p->lineinfo + (uintptr_t)(index - 1) * width, &step, width))
        return 0;
    return (uint32_t)p->key.line + step; /* little-endian, as x86-64 is */
}

int64_t jsp_lua_string_length(const uint8_t *head)
{
    return head[JIT_KIND_AT] == JIT_STRING ? (int64_t)jsp_lua_u32(head, JIT_S_LENGTH) : -1;
}

bool jsp_lua_string_is_elsewhere(const uint8_t *head)
{
    (void)head;
    return false;
}
