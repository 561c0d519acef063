/* layout.h - where the fields of LuaJIT 2.1's objects are, on x86-64 with GC64.
 *
 * The numbers are those of all builds from 2022 to 2026, OpenResty's among them. The
 * fields that moved meanwhile are in the global state, where global.c finds them by their
 * content. The probe (probe.c) compares a walk with the results of lua_getinfo, and
 * refuses a LuaJIT that is built differently.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_JIT_H
#define JSPROF_LUA_JIT_H

enum {
    /* Every collectable object: its kind at 9. */
    JIT_KIND_AT = 9, JIT_THREAD = 6, JIT_PROTO = 7, JIT_FUNCTION = 8, JIT_TRACE = 9,

    /* lua_State */
    JIT_L_STATUS = 11, JIT_L_GLOBAL = 16, JIT_L_BASE = 32, JIT_L_MAXSTACK = 48,
    JIT_L_STACK = 56, JIT_L_CFRAME = 80, JIT_L_BYTES = 96,

    /* global_State */
    JIT_G_TOTAL = 16, JIT_G_VMSTATE = 184, JIT_G_MAIN = 192,
    JIT_G_CURRENT_FROM = 200, JIT_G_CURRENT_TO = 456, /* running coroutine: in between */
    JIT_G_JIT_BASE = 8,                               /* bytes after it */
    JIT_G_TRACES_FROM = 1000, JIT_G_TRACES_TO = 1256, /* list of traces: in between */
    JIT_G_N_TRACES = 12,                              /* bytes after it */

    /* vmstate: a trace's number, or the complement of one of these numbers */
    JIT_VM_INTERPRETS = 0, JIT_VM_C = 1, JIT_VM_COLLECTS = 2, JIT_VM_EXITS = 3,
    JIT_VM_LAST = 6, /* 3 to 6: the compiler works */

    /* GCproto; its bytecode follows directly */
    JIT_P_N_PARAMS = 10, JIT_P_N_CODE = 12, JIT_P_K = 32, JIT_P_N_KGC = 48,
    JIT_P_CHUNK = 64, JIT_P_FIRST = 72,
    JIT_P_N_LINES = 76, JIT_P_LINEINFO = 80, JIT_P_UVINFO = 88, JIT_P_VARINFO = 96,
    JIT_P_BYTES = 104,

    /* GCfunc */
    JIT_F_ID = 10, JIT_F_N_UPVALUES = 11, JIT_F_CODE = 32, JIT_F_C = 40, JIT_F_UPVALUES = 40,
    JIT_F_BYTES = 48, JIT_U_VALUE = 32,
    JIT_ID_LUA = 0, JIT_ID_C = 1, /* higher numbers are Lua's own fast functions */

    /* GCstr: its text at 24 */
    JIT_S_LENGTH = 20, JIT_STRING = 4,

    /* GCtrace */
    JIT_T_N_SNAPS = 10, JIT_T_IR = 32, JIT_T_N_MAP = 44, JIT_T_SNAPS = 48, JIT_T_MAP = 56,
    JIT_T_START = 64, JIT_T_CODE_BYTES = 84, JIT_T_CODE = 88, JIT_T_NUMBER = 104, JIT_T_BYTES = 120,

    /* SnapShot: the stack from one place in a trace onwards */
    JIT_SNAP_MAP = 0, JIT_SNAP_CODE = 6, JIT_SNAP_N = 10, JIT_SNAP_BYTES = 12,
    JIT_SNAP_FRAME = 0x010000, /* flag of an entry */

    /* IRIns: opcode at 5; a 64-bit constant is in the next instruction */
    JIT_IR_OP = 5, JIT_IR_KGC = 24, JIT_IR_KNUM = 28, JIT_IR_KINT64 = 29,

    /* A frame of the VM on the C stack */
    JIT_C_RESULTS = 8, JIT_C_L = 16, JIT_C_PC = 24, JIT_C_PREV = 32, JIT_C_FP = 64,
    JIT_C_RETURN = 72, JIT_C_BYTES = 80,

    /* The first frame of a Lua stack */
    JIT_FIRST_BASE = 16,

    /* Links between Lua frames, in the slot below the base */
    JIT_LINK_TYPE = 3, JIT_LINK_TYPEP = 7, JIT_LINK_C = 1, JIT_LINK_CONT = 2,
    JIT_LINK_VARG = 3,

    /* Bytecode */
    JIT_BC_MOV = 18, JIT_BC_UGET = 45, JIT_BC_USETV = 46, JIT_BC_FNEW = 51, JIT_BC_GGET = 54,
    JIT_BC_GSET = 55, JIT_BC_TGETS = 57, JIT_BC_TGETR = 59, JIT_BC_TSETS = 61,
    JIT_BC_CALLM = 65, JIT_BC_CALL = 66, JIT_BC_ITERN = 70,
    JIT_VARNAMES = 7, /* smaller values mean variables of Lua itself, 0 the list's end */
};

/* A pointer in a Lua value, and the tag above it. */
#define JIT_POINTER 0x7FFFFFFFFFFFull
#define JIT_TAG_FUNCTION (~8ull & 0x1FFFF) /* after a shift by 47 bits */

#endif
