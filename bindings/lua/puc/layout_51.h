/* layout_51.h - PUC Lua 5.1; see layout.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "puc/layout.h"

static const struct lua_layout layout = {
    LAYOUT_UNTIL_53,
    .version = "5.1",
    .status = 10, .top = 16, .global = 32, .ci = 40, .base_ci = 80, .error_jmp = 168,
    .state_bytes = 176,
    .savedpc = 48, .oldpc = LAYOUT_NONE, .main_thread = 176, .total_bytes = 120,
    .ci_func = 8, .ci_savedpc = 24, .ci_bytes = 40, .ci_is_array = 1,
    .ci_tail_calls = 36,
    .tag_lua = 6, .tag_c = 6, .tag_light = 0xFF, .tag_thread = 8, .tag_string = 4,
    .is_c = 10,
    .closure_n = 11, .closure_proto = 32, .closure_upvalues = 40, .upvalue_value = 16,
    .proto_bytes = 120, .k = 16, .code = 24, .lineinfo = 40, .locvars = 48,
    .source = 64, .upvalues = 56, .p = 32, .n_p = 88, .nups = 112, .n_upvalues = 72,
    .n_k = 76, .n_code = 80, .n_lineinfo = 84, .n_locvars = 92, .linedefined = 96, .n_params = 113,
    .upvalue_bytes = 8, .long_length = 16,
    .op_getupval = 4, .op_getglobal = 5, .op_gettabup = 0xFF, .op_getfield = 6,
    .op_self = 11, .op_call = 28, .op_tailcall = 29, .op_tforcall = 33,
    .op_closure = 36, .op_setglobal = 7, .op_settabup = 0xFF, .op_setfield = 9,
    .op_setupval = 8,
};
