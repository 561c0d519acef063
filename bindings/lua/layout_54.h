/* layout_54.h - PUC Lua 5.4; see layout.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "layout.h"

static const struct lua_layout layout = {
    .version = "5.4",
    .status = 10, .top = 16, .global = 24, .ci = 32, .base_ci = 96, .state_bytes = 104,
    .savedpc = LAYOUT_NONE, .base_ci_inside = 1, .main_thread = 264,
    .total_bytes = 16, .gc_debt = 24,
    .ci_func = 0, .ci_previous = 16, .ci_savedpc = 32, .ci_status = 62, .ci_bytes = 64,
    .status_mask = 0xFFFF, .fresh_bit = 1 << 2, .fresh_value = 1 << 2, .tail_bit = 1 << 5,
    .ci_tail_calls = LAYOUT_NONE,
    .tag_lua = 70, .tag_c = 102, .tag_light = 22, .tag_thread = 72, .tag_string = 4,
    .closure_n = 10, .closure_proto = 24, .closure_upvalues = 32,
    .proto_bytes = 128, .k = 56, .code = 64, .lineinfo = 88, .abslineinfo = 96,
    .locvars = 104, .source = 112, .upvalues = 80,
    .p = 72, .n_p = 32,
    .n_upvalues = 16, .n_k = 20, .n_code = 24, .n_lineinfo = 28, .n_abslineinfo = 40,
    .n_locvars = 36, .linedefined = 44, .proto_tag = 10, .line_bytes = 1,
    .upvalue_bytes = 16,
    .short_length = 11, .long_length = 16,
    .op_bits = 7, .b_shift = 16, .c_shift = 24, .bc_bits = 8, .bx_shift = 15,
    .op_move = 0, .op_getupval = 9, .op_getglobal = 0xFF, .op_gettabup = 11,
    .op_getfield = 14, .op_self = 20, .op_call = 68, .op_tailcall = 69, .op_tforcall = 76,
    .op_closure = 79, .op_setglobal = 0xFF, .op_settabup = 15, .op_setfield = 18,
    .op_setupval = 10,
};
