/* debug.c - where a debugger finds the calls of a PUC Lua state: the numbers of the layout, and
 * the walker's fields. debugger/jsprof_debugger/hosts/lua.py walks by them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "puc/puc.h"

#include JSPROF_LUA_LAYOUT

#define NUMBER(name, number) { name, (const void *)(uintptr_t)(number) }
#define WALKER(name, field) NUMBER("walker." name, offsetof(struct jsp_lua_walker, field))
#define LABEL(name, field) NUMBER("label." name, offsetof(struct jsp_lua_label, field))
/* A field of the layout: its offset, and above it its size. */
#define LAYOUT(field)                                                                     \
    NUMBER("l." #field, offsetof(struct lua_layout, field) |                              \
                            sizeof(((struct lua_layout *)0)->field) << 16)

static const jsprof_debug_fact debug_facts[] = {
    { "walk", (const void *)jsp_lua_walk_sigsafe },
    { "layout", &layout },
    NUMBER("version", LUA_VERSION_NUM),

    WALKER("root", root), WALKER("loop_low", loop_low), WALKER("loop_high", loop_high),
    WALKER("resume", resume), WALKER("pcall", pcall), WALKER("begins", begins),
    WALKER("stack_low", stack_low), WALKER("stack_high", stack_high),
    WALKER("unshown", unshown), WALKER("n_labels", labels.n), WALKER("labels", labels.entries),
    NUMBER("bounds.start", offsetof(struct jsp_lua_bounds, start)),
    NUMBER("bounds.end", offsetof(struct jsp_lua_bounds, end)),

    NUMBER("label.bytes", sizeof(struct jsp_lua_label)),
    LABEL("at", key.at), LABEL("code", key.code), LABEL("source", key.source),
    LABEL("line", key.line), LABEL("name", name), LABEL("where", where),

    LAYOUT(status), LAYOUT(top), LAYOUT(global), LAYOUT(ci), LAYOUT(base_ci), LAYOUT(error_jmp),
    LAYOUT(state_bytes), LAYOUT(savedpc), LAYOUT(base_ci_inside),
    LAYOUT(ci_func), LAYOUT(ci_previous), LAYOUT(ci_savedpc), LAYOUT(ci_status), LAYOUT(ci_bytes),
    LAYOUT(ci_is_array), LAYOUT(status_mask), LAYOUT(fresh_bit), LAYOUT(fresh_value),
    LAYOUT(fresh_is_late), LAYOUT(tail_bit), LAYOUT(ci_tail_calls),
    LAYOUT(tag_lua), LAYOUT(tag_c), LAYOUT(tag_light), LAYOUT(tag_thread), LAYOUT(tag_string),
    LAYOUT(is_c), LAYOUT(closure_n), LAYOUT(closure_proto), LAYOUT(closure_upvalues),
    LAYOUT(proto_bytes), LAYOUT(code), LAYOUT(lineinfo), LAYOUT(abslineinfo), LAYOUT(source),
    LAYOUT(n_code), LAYOUT(n_lineinfo), LAYOUT(n_abslineinfo), LAYOUT(linedefined),
    LAYOUT(proto_tag), LAYOUT(line_bytes), LAYOUT(short_length), LAYOUT(long_length),
    LAYOUT(long_elsewhere), LAYOUT(op_bits), LAYOUT(op_call), LAYOUT(op_tailcall),
};

JSPROF_DEBUG_SECTION const jsprof_debug_table jsp_lua_debug =
    JSPROF_DEBUG_TABLE("lua", debug_facts);
