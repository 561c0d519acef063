/* debug.c - where a debugger finds the calls of a LuaJIT state: the numbers of layout.h, and the
 * walker's fields. debugger/jsprof_debugger/hosts/luajit.py walks by them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jit/jit_walk.h"

#define NUMBER(name, number) { name, (const void *)(uintptr_t)(number) }
#define WALKER(name, field) NUMBER("walker." name, offsetof(struct jsp_lua_walker, field))
#define LABEL(name, field) NUMBER("label." name, offsetof(struct jsp_lua_label, field))
#define JIT(name) NUMBER("j." #name, JIT_##name)

static const jsprof_debug_fact debug_facts[] = {
    { "walk", (const void *)jsp_lua_walk_sigsafe },
    WALKER("root", root), WALKER("loop_low", loop_low), WALKER("loop_high", loop_high),
    WALKER("stack_low", stack_low), WALKER("stack_high", stack_high),
    WALKER("unshown", unshown), WALKER("n_labels", labels.n), WALKER("labels", labels.entries),
    WALKER("current", jit.current), WALKER("n_collectors", n_collectors),
    WALKER("collectors", collectors),
    NUMBER("bounds.start", offsetof(struct jsp_lua_bounds, start)),
    NUMBER("bounds.end", offsetof(struct jsp_lua_bounds, end)),
    NUMBER("bounds.bytes", sizeof(struct jsp_lua_bounds)),
    NUMBER("subroutine", JSP_JIT_SUBROUTINE),

    NUMBER("label.bytes", sizeof(struct jsp_lua_label)),
    LABEL("at", key.at), LABEL("code", key.code), LABEL("source", key.source),
    LABEL("line", key.line), LABEL("name", name), LABEL("where", where),

    JIT(KIND_AT), JIT(THREAD), JIT(PROTO), JIT(FUNCTION), JIT(TRACE), JIT(STRING), JIT(S_LENGTH),
    JIT(L_GLOBAL), JIT(L_BASE), JIT(L_MAXSTACK), JIT(L_STACK), JIT(L_CFRAME), JIT(L_BYTES),
    JIT(G_VMSTATE), JIT(G_JIT_BASE), JIT(G_TRACES_FROM), JIT(G_TRACES_TO), JIT(G_N_TRACES),
    JIT(VM_INTERPRETS), JIT(VM_COLLECTS), JIT(VM_EXITS), JIT(VM_LAST),
    JIT(P_N_CODE), JIT(P_CHUNK), JIT(P_FIRST), JIT(P_N_LINES), JIT(P_LINEINFO), JIT(P_BYTES),
    JIT(F_ID), JIT(F_CODE), JIT(F_C), JIT(F_BYTES), JIT(ID_LUA), JIT(ID_C),
    JIT(T_N_SNAPS), JIT(T_IR), JIT(T_SNAPS), JIT(T_MAP), JIT(T_START), JIT(T_CODE_BYTES),
    JIT(T_CODE), JIT(T_NUMBER), JIT(SNAP_MAP), JIT(SNAP_CODE), JIT(SNAP_N), JIT(SNAP_BYTES),
    JIT(SNAP_FRAME), JIT(IR_OP), JIT(IR_KGC), JIT(IR_KNUM), JIT(IR_KINT64),
    JIT(C_RESULTS), JIT(C_L), JIT(C_PC), JIT(C_PREV), JIT(C_FP), JIT(C_RETURN), JIT(C_BYTES),
    JIT(FIRST_BASE), JIT(LINK_TYPE), JIT(LINK_TYPEP), JIT(LINK_C), JIT(LINK_CONT),
    JIT(LINK_VARG), JIT(POINTER),
};

JSPROF_DEBUG_SECTION const jsprof_debug_table jsp_lua_debug =
    JSPROF_DEBUG_TABLE("luajit", debug_facts);
