/* global.c - offsets in LuaJIT's global state that differ between builds; see jit_walk.h
 * for the contract.
 *
 * The running coroutine: the one word that contains main while main runs, and another
 * coroutine while that one runs. The list of traces: the one pointer, with a count after
 * it, whose entry for the running trace's number is a trace that contains the same
 * number.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jit/jit_walk.h"

enum { GLOBAL_LOWEST = 65536, GLOBAL_TRACES = 65536 };

void jsp_lua_walk_learn(struct jsp_lua_walker *w, uintptr_t running)
{
    uintptr_t global = jsp_lua_walk_global(running);
    uint32_t n = (JIT_G_CURRENT_TO - JIT_G_CURRENT_FROM) / 8, holds = 0;
    for (uint32_t i = 0; i < n; i++)
        if (jsp_lua_pointer((const void *)global, JIT_G_CURRENT_FROM + 8 * i) == running)
            holds |= 1u << i;
    w->jit.holds = w->jit.holds ? w->jit.holds & holds : holds;
    uint32_t first = w->jit.holds ? (uint32_t)__builtin_ctz(w->jit.holds) : n;
    w->jit.current = first < n ? (uint16_t)(JIT_G_CURRENT_FROM + 8 * first) : 0;
}

/* Return the trace of this number if `list` and `n` are the list of traces, and it has
 * one. Otherwise 0. */
static uintptr_t global_entry(struct jsp_lua_read *r, uintptr_t list, uint32_t n, uint32_t number)
{
    uint8_t object[JIT_T_BYTES];
    uintptr_t at;
    bool is_list = list >= GLOBAL_LOWEST && list <= JIT_POINTER && !(list & 7) && number < n &&
                   n <= GLOBAL_TRACES;
    bool is_trace = is_list && jsp_lua_read(r, list + 8ull * number, &at, sizeof at) && at &&
                    jsp_lua_read(r, at, object, sizeof object) &&
                    object[JIT_KIND_AT] == JIT_TRACE &&
                    jsp_lua_u16(object, JIT_T_NUMBER) == number;
    return is_trace ? at : 0;
}

static uintptr_t global_trace_at(struct jsp_jit_walk *k, uint16_t field, uint32_t number)
{
    uint8_t words[JIT_G_N_TRACES + 4];
    if (!jsp_lua_read(k->read, k->global + field, words, sizeof words))
        return 0;
    return global_entry(k->read, jsp_lua_pointer(words, 0), jsp_lua_u32(words, JIT_G_N_TRACES),
                        number);
}

uintptr_t jsp_jit_trace_object(struct jsp_jit_walk *k, uint32_t number)
{
    if (k->w->jit.traces)
        return global_trace_at(k, k->w->jit.traces, number);
    for (uint16_t field = JIT_G_TRACES_FROM; field < JIT_G_TRACES_TO; field += 8) {
        uintptr_t at = global_trace_at(k, field, number);
        if (!at)
            continue;
        k->w->jit.traces = field;
        return at;
    }
    return 0;
}
