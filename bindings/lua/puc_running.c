/* puc_running.c - which coroutine of PUC Lua runs, and who resumed it; see puc.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "puc.h"

#include JSPROF_LUA_LAYOUT

enum { RUNNING_ARGUMENTS = 8, RUNNING_UPVALUES = 4 }; /* that are looked at for a coroutine */

struct running {
    struct jsp_lua_read *read;
    struct jsp_lua_state *states;
    uint32_t n;
};

/* A coroutine with calls that has neither yielded nor failed was resumed by somebody. */
static bool running_is_resumed(const struct running *k, const struct jsp_lua_state *s)
{
    if (s->status != 0 || s->ci == s->base_ci || s->global != k->states[0].global)
        return false;
    for (uint32_t i = 0; i < k->n; i++)
        if (k->states[i].at == s->at)
            return false;
    return true;
}

/* Is this value a resumed coroutine? Then it becomes the next of the chain. */
static bool running_take(struct running *k, uintptr_t value_at)
{
    uint8_t value[JSP_PUC_VALUE];
    struct jsp_lua_state *next = &k->states[k->n];
    if (!jsp_lua_read(k->read, value_at, value, sizeof value) ||
        value[JSP_PUC_TAG_AT] != layout.tag_thread ||
        !jsp_puc_state(k->read, jsp_lua_pointer(value, 0), next) || !running_is_resumed(k, next))
        return false;
    k->n++;
    return true;
}

/* Whoever resumes is a C function, and keeps the coroutine among its arguments
 * (coroutine.resume, host code) or upvalues (coroutine.wrap). */
static bool running_next(struct running *k)
{
    const struct jsp_lua_state *s = &k->states[k->n - 1];
    struct jsp_lua_function f;
    struct jsp_puc_ci ci;

    if (k->n == JSP_LUA_STATES || s->ci == s->base_ci || !jsp_puc_ci(k->read, s->ci, &ci))
        return false;
    jsp_puc_function(k->read, &ci, &f);
    if (f.kind != JSP_LUA_C)
        return false;
    uint64_t n = s->top > ci.func ? (s->top - ci.func) / JSP_PUC_VALUE : 0;
    for (uint64_t i = 1; i < n && i <= RUNNING_ARGUMENTS; i++)
        if (running_take(k, ci.func + i * JSP_PUC_VALUE))
            return true;
    for (uint32_t i = 0; f.closure && i < f.n_upvalues && i < RUNNING_UPVALUES; i++)
        if (running_take(k, f.closure + layout.closure_upvalues + (uintptr_t)i * JSP_PUC_VALUE))
            return true;
    return false;
}

uint32_t jsp_puc_running(struct jsp_lua_walker *w)
{
    struct running k = { &w->read, w->states, 1 };
    if (!jsp_puc_state(k.read, w->root, &k.states[0]))
        return 0;
    while (running_next(&k))
        continue;
    return k.n;
}
