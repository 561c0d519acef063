/* puc.h - the objects of a PUC Lua state that a walk needs, read safely.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_PUC_H
#define JSPROF_LUA_PUC_H

#include "proto.h"
#include "walk.h"

enum {
    JSP_PUC_TAG_AT = 8, /* of a value, and of a collectable object */
    JSP_PUC_VALUE = 16, /* bytes of one */
    JSP_PUC_CALLS = 64, /* power of two */
};

/* An open call. */
struct jsp_puc_ci {
    uintptr_t at, func, previous, savedpc;
    uint32_t status, tail_calls;
};

/* Read the object at `at`. Return false if there is none. */
bool jsp_puc_state(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_state *s);
bool jsp_puc_ci(struct jsp_lua_read *r, uintptr_t at, struct jsp_puc_ci *ci);

/* Read the function in a call's slot. While Lua makes or ends the call the slot may hold any
 * value. */
void jsp_puc_function(struct jsp_lua_read *r, const struct jsp_puc_ci *ci,
                      struct jsp_lua_function *f);

/* Fill the walker's states with the coroutines that resume each other, from its root to
 * the one that runs. `sp` is the thread's stack pointer. Return their number, or 0 if no
 * state is at the root. */
uint32_t jsp_puc_running(struct jsp_lua_walker *w, uintptr_t sp);

/* A chain of such coroutines while the walk finds it, outermost first. */
struct jsp_puc_chain {
    struct jsp_lua_walker *w;
    uint32_t n;     /* of w->states */
    uintptr_t sp;
    uint32_t n_calls;  /* calls of the API on the C stack; UINT32_MAX: not searched yet */
    uintptr_t calls[JSP_PUC_CALLS]; /* stack addresses of their returns, innermost first */
};

/* Return whether the coroutine may be the next of the chain: it has calls, has neither yielded
 * nor failed, and is not in the chain, so some code resumed it. */
bool jsp_puc_is_resumed(const struct jsp_puc_chain *k, const struct jsp_lua_state *s);

/* Add the coroutine that C resumed while the last of the chain was in C. Return false if
 * there is none (resumed.c). */
bool jsp_puc_resumed(struct jsp_puc_chain *k);

#endif
