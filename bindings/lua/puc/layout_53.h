/* layout_53.h - PUC Lua 5.3; see layout.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "puc/layout.h"

static const struct lua_layout layout = {
    LAYOUT_SINCE_52, LAYOUT_UNTIL_53,
    .version = "5.3",
    .oldpc = 40, .status = 12, .base_ci = 96, .error_jmp = 88, .state_bytes = 104,
    .main_thread = 200,
    .ci_savedpc = 40, .ci_status = 66, .ci_bytes = 72, .status_mask = 0xFFFF,
    .fresh_bit = 1 << 3, .fresh_value = 1 << 3, .fresh_is_late = 1,
    .tail_bit = 1 << 5,
    .proto_bytes = 120, .k = 48, .code = 56, .lineinfo = 72, .locvars = 80,
    .source = 104, .upvalues = 88, .p = 64, .n_p = 32, .n_upvalues = 16, .n_k = 20,
    .n_code = 24, .n_lineinfo = 28, .n_locvars = 36, .linedefined = 40, .n_params = 10,
    .short_length = 11,
    .op_getupval = 5, .op_gettabup = 6, .op_getfield = 7, .op_self = 12, .op_call = 36,
    .op_tailcall = 37, .op_tforcall = 41, .op_closure = 44, .op_settabup = 8,
    .op_setfield = 10, .op_setupval = 9,
};
