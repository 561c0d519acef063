/* layout.h - where the fields of one Lua version's objects are, on 64-bit machines.
 *
 * The headers with these offsets are internal to Lua and not installed. The numbers are
 * those of Debian's packages, and the same for every build with the usual luaconf.h. The
 * binding does not trust them: attaching runs a probe (probe.c) that compares a walk by
 * these numbers with the results of lua_getinfo, and refuses a Lua that is built
 * differently.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_LAYOUT_H
#define JSPROF_LUA_LAYOUT_H

#include <stdint.h>

enum { LAYOUT_NONE = 0xFFFF };

struct lua_layout {
    const char *version;
    int first_release; /* the first with this layout */

    /* lua_State */
    uint16_t status, top, global, ci, base_ci, error_jmp, state_bytes;
    uint16_t savedpc;       /* 5.1: of the running function */
    uint16_t oldpc;         /* 5.2, 5.3: lua_sethook sets it to the present instruction */
    uint16_t base_ci_inside; /* 1: base_ci is no pointer but the first CallInfo itself */
    uint16_t main_thread, total_bytes, gc_debt; /* in global_State */
    uint16_t main_inside;      /* 1: main_thread is no pointer but the lua_State itself */
    uint16_t debt_is_in_total; /* 1: the bytes in use are the total without the debt */

    /* CallInfo */
    uint16_t ci_func, ci_previous, ci_savedpc, ci_status, ci_bytes;
    uint16_t ci_is_array;   /* 1: the previous one is the one before in memory */
    uint16_t status_mask;   /* bits of ci_status that there are */
    uint16_t fresh_bit, fresh_value; /* the function runs in a loop activation of its own */
    uint16_t fresh_is_late;   /* 1: also of a function that was resumed in its middle */
    uint16_t tail_bit;
    uint16_t ci_tail_calls; /* 5.1: their number, an int */

    /* TValue: 16 bytes, tag at 8 */
    uint8_t tag_lua, tag_c, tag_light, tag_thread, tag_string;
    uint8_t is_c;           /* 5.1: byte of a closure that shows its kind; else 0 */

    /* Closures */
    uint16_t closure_n, closure_proto, closure_upvalues;
    uint16_t upvalue_value; /* of an upvalue: the pointer to its value */

    /* Proto */
    uint16_t proto_bytes, k, code, lineinfo, abslineinfo, locvars, source, upvalues;
    uint16_t p, n_p;        /* the prototypes inside it */
    uint16_t nups;          /* 5.1: upvalues of a closure, an instruction each; else 0 */
    uint16_t n_upvalues, n_k, n_code, n_lineinfo, n_abslineinfo, n_locvars, linedefined;
    uint16_t n_params;      /* a byte */
    uint8_t proto_tag;
    uint8_t line_bytes;     /* 4: one int for each instruction; 1: differences */
    uint8_t upvalue_bytes;  /* of one upvalue's description */

    /* TString: tag at 8, text at 24 */
    uint8_t short_length;   /* where a short string keeps its length; 0: as a long one */
    uint8_t long_length;
    uint8_t long_elsewhere; /* 1: a long string has a pointer to its text at 24 */

    /* Instructions */
    uint8_t op_bits, b_shift, c_shift, bc_bits, bx_shift;
    uint8_t constant_bit;   /* of B and C; 0: by opcode */
    uint8_t self_is_constant; /* 1: C of the opcode `self` is always a constant */
    uint8_t op_move, op_getupval, op_getglobal, op_gettabup, op_getfield, op_self, op_call,
        op_tailcall, op_tforcall;
    uint8_t op_closure, op_setglobal, op_settabup, op_setfield, op_setupval;
};

/* The common fields of 5.2 to 5.5, of 5.4 and 5.5, and of 5.1 to 5.3. */
#define LAYOUT_SINCE_52                                                                 \
    .top = 16, .global = 24, .ci = 32, .savedpc = LAYOUT_NONE, .base_ci_inside = 1,     \
    .total_bytes = 16, .gc_debt = 24, .ci_func = 0, .ci_previous = 16,                  \
    .ci_tail_calls = LAYOUT_NONE, .closure_n = 10, .closure_proto = 24,                 \
    .closure_upvalues = 32, .upvalue_bytes = 16, .long_length = 16,                     \
    .op_getglobal = 0xFF, .op_setglobal = 0xFF, .tag_lua = 70, .tag_c = 102,            \
    .tag_light = 22, .tag_thread = 72, .tag_string = 4

#define LAYOUT_SINCE_54                                                                 \
    .oldpc = LAYOUT_NONE, .base_ci = 96, .error_jmp = 88, .state_bytes = 104,          \
    .ci_savedpc = 32, .upvalue_value = 16,                                              \
    .ci_status = 62, .ci_bytes = 64, .status_mask = 0xFFFF, .proto_bytes = 128,         \
    .k = 56, .code = 64, .lineinfo = 88, .abslineinfo = 96, .locvars = 104,             \
    .source = 112, .upvalues = 80, .p = 72, .n_p = 32, .n_upvalues = 16, .n_k = 20,     \
    .n_code = 24, .n_lineinfo = 28, .n_abslineinfo = 40, .n_locvars = 36,               \
    .linedefined = 44, .n_params = 10, .proto_tag = 10, .line_bytes = 1,                \
    .short_length = 11,                                                                 \
    .op_bits = 7, .b_shift = 16, .c_shift = 24, .bc_bits = 8, .bx_shift = 15,           \
    .op_move = 0, .op_getupval = 9, .op_gettabup = 11, .op_getfield = 14,               \
    .op_self = 20, .op_call = 68, .op_tailcall = 69, .op_tforcall = 76,                 \
    .op_closure = 79, .op_settabup = 15, .op_setfield = 18, .op_setupval = 10

#define LAYOUT_UNTIL_53                                                                 \
    .op_bits = 6, .b_shift = 23, .c_shift = 14, .bc_bits = 9, .bx_shift = 14,           \
    .constant_bit = 8, .op_move = 0, .line_bytes = 4, .abslineinfo = LAYOUT_NONE,       \
    .proto_tag = 9

#endif
