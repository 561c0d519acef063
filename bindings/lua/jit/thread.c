/* thread.c - the coroutines of LuaJIT and the links between their frames; see
 * jit_walk.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jit/jit_walk.h"

enum {
    THREAD_CALLER_WORDS = 2048, /* words of the C stack to search for a resumer */
    THREAD_CANDIDATES = 128,    /* candidates to check among them */
    THREAD_NO_POINTER = 65536,
    THREAD_ACTIVATIONS = 256,
    THREAD_ABOVE = 1024,        /* bytes of a Lua stack beyond its usual end */
};

uintptr_t jsp_jit_word(struct jsp_jit_walk *k, uintptr_t at)
{
    uintptr_t value;
    return jsp_lua_read(k->read, at, &value, sizeof value) ? value : 0;
}

/* The low bits of a link to a cframe are flags. */
static uintptr_t thread_cframe(uintptr_t link)
{
    return link & ~(uintptr_t)3;
}

bool jsp_jit_thread_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_jit_thread *t,
                         uintptr_t *global)
{
    uint8_t object[JIT_L_BYTES];
    if (!at || at & 7 || !jsp_lua_read(r, at, object, sizeof object) ||
        object[JIT_KIND_AT] != JIT_THREAD)
        return false;
    t->at = at;
    t->base = jsp_lua_pointer(object, JIT_L_BASE);
    t->stack = jsp_lua_pointer(object, JIT_L_STACK);
    t->maxstack = jsp_lua_pointer(object, JIT_L_MAXSTACK);
    t->cframe = thread_cframe(jsp_lua_pointer(object, JIT_L_CFRAME));
    *global = jsp_lua_pointer(object, JIT_L_GLOBAL);
    return true;
}

bool jsp_jit_in_stack(const struct jsp_jit_thread *t, uintptr_t base)
{
    return !(base & 7) && base >= t->stack + 16 && base <= t->maxstack + THREAD_ABOVE;
}

void jsp_jit_function_at(struct jsp_jit_walk *k, uintptr_t base, struct jsp_lua_function *f)
{
    jsp_lua_function_read(k->read, jsp_jit_word(k, base - 16) & JIT_POINTER, f);
}

uintptr_t jsp_jit_below(struct jsp_jit_walk *k, uintptr_t base, uintptr_t link)
{
    uint32_t call;
    uintptr_t size;
    if (link & JIT_LINK_TYPE) {
        size = link & ~(uintptr_t)JIT_LINK_TYPEP;
    } else {
        if (!jsp_lua_read(k->read, link - 4, &call, sizeof call))
            return 0;
        size = 8 * (2 + (uintptr_t)(call >> 8 & 0xFF));
    }
    uintptr_t below = base - size;
    return size && below < base && jsp_jit_in_stack(&k->thread, below) ? below : 0;
}

uintptr_t jsp_jit_saved_pc(struct jsp_jit_walk *k)
{
    return k->thread.cframe ? jsp_jit_word(k, k->thread.cframe + JIT_C_PC) : 0;
}

uintptr_t jsp_jit_cframe_before(struct jsp_jit_walk *k, uintptr_t cframe)
{
    return thread_cframe(jsp_jit_word(k, cframe + JIT_C_PREV));
}

/* Such an activation has, in place of the number of results, the negative offset of the Lua
 * stack's top at its begin. All functions that it runs are further up. */
uintptr_t jsp_jit_cframe_of(struct jsp_jit_walk *k, uintptr_t cframe, uintptr_t base)
{
    for (uint32_t i = 0; cframe && i < THREAD_ACTIVATIONS; i++) {
        int32_t results;
        if (!jsp_lua_read(k->read, cframe + JIT_C_RESULTS, &results, sizeof results) ||
            results >= 0 || base > k->thread.stack - (uintptr_t)(intptr_t)results)
            break;
        cframe = jsp_jit_cframe_before(k, cframe);
    }
    return cframe;
}

uintptr_t jsp_jit_bottom(struct jsp_jit_walk *k)
{
    uintptr_t cframe = k->thread.cframe;
    for (uint32_t i = 0; cframe && i < THREAD_ACTIVATIONS; i++) {
        uintptr_t before = jsp_jit_cframe_before(k, cframe);
        if (!before)
            return cframe;
        cframe = before;
    }
    return 0;
}

/* The first activation of this coroutine is on the C stack below its resumer's, usually
 * directly below. The outermost coroutine has no resumer. */
bool jsp_jit_resumer(struct jsp_jit_walk *k, uintptr_t bottom)
{
    uintptr_t at = (bottom + JIT_C_BYTES) & ~(uintptr_t)7, global;
    uint32_t candidates = 0;
    if (k->thread.at == k->w->root || k->w->jit.alone == bottom)
        return false;
    for (uint32_t i = 0; i < THREAD_CALLER_WORDS && candidates < THREAD_CANDIDATES;
         i++, at += 8) {
        struct jsp_jit_thread t;
        uintptr_t l;
        if (!jsp_lua_read(k->read, at + JIT_C_L, &l, sizeof l))
            break; /* the end of the stack */
        if (l < THREAD_NO_POINTER || l > JIT_POINTER || l & 7 || l == k->thread.at)
            continue;
        candidates++;
        if (jsp_jit_thread_read(k->read, l, &t, &global) && global == k->global &&
            t.cframe == at) {
            k->thread = t;
            k->pc = jsp_jit_saved_pc(k);
            return true;
        }
    }
    k->w->jit.alone = bottom; /* the search is expensive, so keep its result */
    return false;
}
