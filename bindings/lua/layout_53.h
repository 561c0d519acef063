/* layout_53.h - PUC Lua 5.3; see layout.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "layout.h"

static const struct lua_layout layout = {
    .version = "5.3",
    .status = 12, .top = 16, .global = 24, .ci = 32, .base_ci = 96, .state_bytes = 104,
    .savedpc = LAYOUT_NONE, .base_ci_inside = 1, .main_thread = 200,
    .total_bytes = 16, .gc_debt = 24,
    .ci_func = 0, .ci_previous = 16, .ci_savedpc = 40, .ci_status = 66, .ci_bytes = 72,
    .status_mask = 0xFFFF, .fresh_bit = 1 << 3, .fresh_value = 1 << 3, .tail_bit = 1 << 5,
    .ci_tail_calls = LAYOUT_NONE,
    .tag_lua = 70, .tag_c = 102, .tag_light = 22, .tag_thread = 72, .tag_string = 4,
    .closure_n = 10, .closure_proto = 24, .closure_upvalues = 32,
    .proto_bytes = 120, .k = 48, .code = 56, .lineinfo = 72, .abslineinfo = LAYOUT_NONE,
    .locvars = 80, .source = 104, .upvalues = 88,
    .p = 64, .n_p = 32,
    .n_upvalues = 16, .n_k = 20, .n_code = 24, .n_lineinfo = 28, .n_locvars = 36,
    .linedefined = 40, .proto_tag = 9, .line_bytes = 4, .upvalue_bytes = 16,
    .short_length = 11, .long_length = 16,
    .op_bits = 6, .b_shift = 23, .c_shift = 14, .bc_bits = 9, .bx_shift = 14,
    .constant_bit = 8,
    .op_move = 0, .op_getupval = 5, .op_getglobal = 0xFF, .op_gettabup = 6, .op_getfield = 7,
    .op_self = 12, .op_call = 36, .op_tailcall = 37, .op_tforcall = 41,
    .op_closure = 44, .op_setglobal = 0xFF, .op_settabup = 8, .op_setfield = 10,
    .op_setupval = 9,
};
