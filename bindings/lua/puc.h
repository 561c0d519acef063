/* puc.h - the objects of a PUC Lua state that a walk goes by, read safely.
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
};

/* A call under way. */
struct jsp_puc_ci {
    uintptr_t at, func, previous, savedpc;
    uint32_t status, tail_calls;
};

/* False: there is none at `at`. */
bool jsp_puc_state(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_state *s);
bool jsp_puc_ci(struct jsp_lua_read *r, uintptr_t at, struct jsp_puc_ci *ci);

/* What stands in a call's function slot: anything, when the call is being made or undone. */
void jsp_puc_function(struct jsp_lua_read *r, const struct jsp_puc_ci *ci,
                      struct jsp_lua_function *f);

/* The coroutines that resume each other: the walker's states from its root to the one that
 * runs. How many; 0: there is no state at the root. */
uint32_t jsp_puc_running(struct jsp_lua_walker *w);

#endif
