/* running.c - the running coroutine of PUC Lua, and those that resumed it; see puc.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "puc/puc.h"

#include JSPROF_LUA_LAYOUT

enum { RUNNING_ARGUMENTS = 8, RUNNING_UPVALUES = 4 }; /* searched for a coroutine */

bool jsp_puc_is_resumed(const struct jsp_puc_chain *k, const struct jsp_lua_state *s)
{
    const struct jsp_lua_state *states = k->w->states;
    if (s->status != 0 || s->ci == s->base_ci || s->global != states[0].global)
        return false;
    for (uint32_t i = 0; i < k->n; i++)
        if (states[i].at == s->at)
            return false;
    return true;
}

/* If this value is a resumed coroutine, add it to the chain. */
static bool running_take(struct jsp_puc_chain *k, uintptr_t value_at)
{
    struct jsp_lua_read *read = &k->w->read;
    uint8_t value[JSP_PUC_VALUE];
    struct jsp_lua_state *next = &k->w->states[k->n];
    if (!jsp_lua_read(read, value_at, value, sizeof value) ||
        value[JSP_PUC_TAG_AT] != layout.tag_thread ||
        !jsp_puc_state(read, jsp_lua_pointer(value, 0), next) || !jsp_puc_is_resumed(k, next))
        return false;
    k->n++;
    return true;
}

/* Lua's own functions keep the coroutine that they resume in their arguments
 * (coroutine.resume) or upvalues (coroutine.wrap). */
static bool running_by_values(struct jsp_puc_chain *k, const struct jsp_puc_ci *ci,
                              const struct jsp_lua_function *f)
{
    const struct jsp_lua_state *s = &k->w->states[k->n - 1];
    uint64_t n = s->top > ci->func ? (s->top - ci->func) / JSP_PUC_VALUE : 0;
    for (uint64_t i = 1; i < n && i <= RUNNING_ARGUMENTS; i++)
        if (running_take(k, ci->func + i * JSP_PUC_VALUE))
            return true;
    for (uint32_t i = 0; f->closure && i < f->n_upvalues && i < RUNNING_UPVALUES; i++)
        if (running_take(k, f->closure + layout.closure_upvalues + (uintptr_t)i * JSP_PUC_VALUE))
            return true;
    return false;
}

/* Only C code resumes: the last of the chain is in a C function, or has no call although
 * C runs it. */
static bool running_next(struct jsp_puc_chain *k)
{
    const struct jsp_lua_state *s = &k->w->states[k->n - 1];
    struct jsp_lua_function f;
    struct jsp_puc_ci ci;

    if (k->n == JSP_LUA_STATES)
        return false;
    if (s->ci == s->base_ci)
        return jsp_puc_resumed(k);
    if (!jsp_puc_ci(&k->w->read, s->ci, &ci))
        return false;
    jsp_puc_function(&k->w->read, &ci, &f);
    return f.kind == JSP_LUA_C && (running_by_values(k, &ci, &f) || jsp_puc_resumed(k));
}

uint32_t jsp_puc_running(struct jsp_lua_walker *w, uintptr_t sp)
{
    struct jsp_puc_chain k = { .w = w, .n = 1, .sp = sp, .n_calls = UINT32_MAX };
    if (!jsp_puc_state(&w->read, w->root, &w->states[0]))
        return 0;
    while (running_next(&k))
        continue;
    return k.n;
}
