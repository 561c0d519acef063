/* trace.c - see trace.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jit/trace.h"

enum { TRACE_MAX_SNAPS = 512, TRACE_MAX_ENTRIES = 256 };

bool jsp_jit_trace_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_jit_trace *out)
{
    uint8_t object[JIT_T_BYTES];

    if (!at || !jsp_lua_read(r, at, object, sizeof object))
        return false;
    *out = (struct jsp_jit_trace){
        .code = jsp_lua_pointer(object, JIT_T_CODE),
        .code_bytes = jsp_lua_u32(object, JIT_T_CODE_BYTES),
        .ir = jsp_lua_pointer(object, JIT_T_IR), .snaps = jsp_lua_pointer(object, JIT_T_SNAPS),
        .map = jsp_lua_pointer(object, JIT_T_MAP),
        .start = jsp_lua_pointer(object, JIT_T_START),
        .n_snaps = jsp_lua_u16(object, JIT_T_N_SNAPS), .n_map = jsp_lua_u32(object, JIT_T_N_MAP),
    };
    return true;
}

/* Return the 64-bit constant of an instruction, and its kind in *op. */
static uint64_t trace_constant(struct jsp_lua_read *r, const struct jsp_jit_trace *t,
                               uint32_t ref, uint8_t *op)
{
    uint8_t instructions[16];
    *op = 0;
    if (!jsp_lua_read(r, t->ir + 8ull * ref, instructions, sizeof instructions))
        return 0;
    *op = instructions[JIT_IR_OP];
    return jsp_lua_pointer(instructions, 8);
}

static uintptr_t trace_function(struct jsp_lua_read *r, const struct jsp_jit_trace *t,
                                uint32_t ref)
{
    uint8_t op;
    uint64_t value = trace_constant(r, t, ref, &op);
    return op == JIT_IR_KGC ? value & JIT_POINTER : 0;
}

/* Read the entry of a frame's link, which has the flag of frames. The entry before it is that of
 * the slot below, which holds the function. A function with variable arguments has a second
 * frame. */
static void trace_frame(struct jsp_lua_read *r, struct jsp_jit_trace *t, uint32_t before,
                        uint32_t entry)
{
    uint8_t op;
    uint64_t link = trace_constant(r, t, entry & 0xFFFF, &op);
    bool is_link = op == JIT_IR_KNUM || op == JIT_IR_KINT64;
    bool has_function = before >> 24 == (entry >> 24) - 1;
    if (!is_link || (link & JIT_LINK_TYPEP) == JIT_LINK_VARG || t->n == JSP_JIT_INLINED)
        return;
    t->inlined[t->n].link = link & JIT_LINK_TYPE ? 0 : link;
    t->inlined[t->n++].function = has_function ? trace_function(r, t, before & 0xFFFF) : 0;
}

/* Return the last snapshot whose code begins at or before this offset. */
static bool trace_snapshot(struct jsp_lua_read *r, const struct jsp_jit_trace *t,
                           uintptr_t offset, uint8_t *snap)
{
    uint32_t n = t->n_snaps < TRACE_MAX_SNAPS ? t->n_snaps : TRACE_MAX_SNAPS;
    bool found = false;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t one[JIT_SNAP_BYTES];
        if (!jsp_lua_read(r, t->snaps + (uintptr_t)i * sizeof one, one, sizeof one))
            return found;
        if (found && jsp_lua_u16(one, JIT_SNAP_CODE) > offset)
            return true;
        memcpy(snap, one, sizeof one);
        found = true;
    }
    return found;
}

void jsp_jit_trace_at(struct jsp_lua_read *r, uintptr_t pc, struct jsp_jit_trace *t)
{
    uint8_t snap[JIT_SNAP_BYTES] = { 0 };
    uint64_t at;

    t->n = 0;
    if (!trace_snapshot(r, t, pc - t->code, snap))
        return;
    uint32_t first = jsp_lua_u32(snap, JIT_SNAP_MAP), n = snap[JIT_SNAP_N];
    for (uint32_t i = 0, entry, before = 0; i < n && i < TRACE_MAX_ENTRIES; i++, before = entry) {
        if (!jsp_lua_read(r, t->map + 4ull * (first + i), &entry, sizeof entry))
            return;
        if (entry >> 24 == 0)
            t->base_function = trace_function(r, t, entry & 0xFFFF);
        else if (entry >> 24 > 1 && entry & JIT_SNAP_FRAME)
            trace_frame(r, t, before, entry);
    }
    if (jsp_lua_read(r, t->map + 4ull * (first + n), &at, sizeof at))
        t->next = (at >> 8) + 4;
}
