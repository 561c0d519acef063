/* layout_52.h - PUC Lua 5.2; see layout.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "puc/layout.h"

static const struct lua_layout layout = {
    LAYOUT_SINCE_52, LAYOUT_UNTIL_53,
    .version = "5.2",
    .oldpc = 40, .status = 10, .base_ci = 128, .error_jmp = 112, .state_bytes = 136,
    .main_thread = 264,
    .ci_savedpc = 56, .ci_status = 34, .ci_bytes = 80, .status_mask = 0xFF,
    .fresh_bit = 1 << 2, .fresh_value = 0, .tail_bit = 1 << 6,
    .upvalue_value = 16, .proto_bytes = 128, .k = 16, .code = 24, .lineinfo = 40, .locvars = 48,
    .source = 72, .upvalues = 56, .p = 32, .n_p = 96, .n_upvalues = 80, .n_k = 84,
    .n_code = 88, .n_lineinfo = 92, .n_locvars = 100, .linedefined = 104, .n_params = 120,
    .op_getupval = 5, .op_gettabup = 6, .op_getfield = 7, .op_self = 12, .op_call = 29,
    .op_tailcall = 30, .op_tforcall = 34, .op_closure = 37, .op_settabup = 8,
    .op_setfield = 10, .op_setupval = 9,
};
