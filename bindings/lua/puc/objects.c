/* objects.c - see puc.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "puc/puc.h"

#include JSPROF_LUA_LAYOUT

enum { PUC_TAG_BITS = 0x3F };

bool jsp_puc_state(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_state *s)
{
    uint8_t object[256];
    if (!at || !jsp_lua_read(r, at, object, layout.state_bytes) ||
        (object[JSP_PUC_TAG_AT] & PUC_TAG_BITS) != (layout.tag_thread & PUC_TAG_BITS))
        return false;
    s->at = at;
    s->ci = jsp_lua_pointer(object, layout.ci);
    s->base_ci = layout.base_ci_inside ? at + layout.base_ci
                                       : jsp_lua_pointer(object, layout.base_ci);
    s->top = jsp_lua_pointer(object, layout.top);
    s->global = jsp_lua_pointer(object, layout.global);
    s->savedpc = layout.savedpc == LAYOUT_NONE ? 0 : jsp_lua_pointer(object, layout.savedpc);
    s->error_jmp = jsp_lua_pointer(object, layout.error_jmp);
    s->status = object[layout.status];
    return true;
}

bool jsp_puc_ci(struct jsp_lua_read *r, uintptr_t at, struct jsp_puc_ci *ci)
{
    uint8_t object[128];
    if (!at || !jsp_lua_read(r, at, object, layout.ci_bytes))
        return false;
    ci->at = at;
    ci->func = jsp_lua_pointer(object, layout.ci_func);
    ci->savedpc = jsp_lua_pointer(object, layout.ci_savedpc);
    ci->previous = layout.ci_is_array ? at - layout.ci_bytes
                                      : jsp_lua_pointer(object, layout.ci_previous);
    ci->status = layout.ci_is_array ? 0
                                    : jsp_lua_u16(object, layout.ci_status) & layout.status_mask;
    ci->tail_calls = layout.ci_is_array ? jsp_lua_u32(object, layout.ci_tail_calls)
                                        : (ci->status & layout.tail_bit) != 0;
    return true;
}

void jsp_puc_function(struct jsp_lua_read *r, const struct jsp_puc_ci *ci,
                      struct jsp_lua_function *f)
{
    uint8_t value[JSP_PUC_VALUE];
    f->kind = JSP_LUA_UNKNOWN;
    f->closure = 0;
    if (!ci->func || !jsp_lua_read(r, ci->func, value, sizeof value))
        return;
    uint8_t tag = value[JSP_PUC_TAG_AT];
    if (tag == layout.tag_light) {
        f->kind = JSP_LUA_C;
        f->c = jsp_lua_pointer(value, 0);
        f->n_upvalues = 0;
    } else if (tag == layout.tag_lua || tag == layout.tag_c) {
        jsp_lua_function_read(r, jsp_lua_pointer(value, 0), f);
        if ((f->kind == JSP_LUA_LUA && tag != layout.tag_lua) ||
            (f->kind == JSP_LUA_C && tag != layout.tag_c))
            f->kind = JSP_LUA_UNKNOWN;
    }
}
