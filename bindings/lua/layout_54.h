/* layout_54.h - PUC Lua 5.4; see layout.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "layout.h"

static const struct lua_layout layout = {
    LAYOUT_SINCE_52,
    .version = "5.4",
    .oldpc = LAYOUT_NONE, .status = 10, .base_ci = 96, .state_bytes = 104, .main_thread = 264,
    .ci_savedpc = 32, .ci_status = 62, .ci_bytes = 64, .status_mask = 0xFFFF,
    .fresh_bit = 1 << 2, .fresh_value = 1 << 2, .tail_bit = 1 << 5,
    .proto_bytes = 128, .k = 56, .code = 64, .lineinfo = 88, .abslineinfo = 96,
    .locvars = 104, .source = 112, .upvalues = 80, .p = 72, .n_p = 32,
    .n_upvalues = 16, .n_k = 20, .n_code = 24, .n_lineinfo = 28, .n_abslineinfo = 40,
    .n_locvars = 36, .linedefined = 44, .proto_tag = 10, .line_bytes = 1,
    .short_length = 11,
    .op_bits = 7, .b_shift = 16, .c_shift = 24, .bc_bits = 8, .bx_shift = 15,
    .op_move = 0, .op_getupval = 9, .op_gettabup = 11, .op_getfield = 14,
    .op_self = 20, .op_call = 68, .op_tailcall = 69, .op_tforcall = 76,
    .op_closure = 79, .op_settabup = 15, .op_setfield = 18, .op_setupval = 10,
};
