/* layout_52.h - PUC Lua 5.2; see layout.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "layout.h"

static const struct lua_layout layout = {
    .version = "5.2",
    .status = 10, .top = 16, .global = 24, .ci = 32, .base_ci = 128, .state_bytes = 136,
    .savedpc = LAYOUT_NONE, .base_ci_inside = 1, .main_thread = 264,
    .total_bytes = 16, .gc_debt = 24,
    .ci_func = 0, .ci_previous = 16, .ci_savedpc = 56, .ci_status = 34, .ci_bytes = 80,
    .status_mask = 0xFF, .fresh_bit = 1 << 2, .fresh_value = 0, .tail_bit = 1 << 6,
    .ci_tail_calls = LAYOUT_NONE,
    .tag_lua = 70, .tag_c = 102, .tag_light = 22, .tag_thread = 72, .tag_string = 4,
    .closure_n = 10, .closure_proto = 24, .closure_upvalues = 32,
    .proto_bytes = 128, .k = 16, .code = 24, .lineinfo = 40, .abslineinfo = LAYOUT_NONE,
    .locvars = 48, .source = 72, .upvalues = 56,
    .p = 32, .n_p = 96,
    .n_upvalues = 80, .n_k = 84, .n_code = 88, .n_lineinfo = 92, .n_locvars = 100,
    .linedefined = 104, .proto_tag = 9, .line_bytes = 4, .upvalue_bytes = 16,
    .long_length = 16,
    .op_bits = 6, .b_shift = 23, .c_shift = 14, .bc_bits = 9, .bx_shift = 14,
    .constant_bit = 8,
    .op_move = 0, .op_getupval = 5, .op_getglobal = 0xFF, .op_gettabup = 6, .op_getfield = 7,
    .op_self = 12, .op_call = 29, .op_tailcall = 30, .op_tforcall = 34,
    .op_closure = 37, .op_setglobal = 0xFF, .op_settabup = 8, .op_setfield = 10,
    .op_setupval = 9,
};
