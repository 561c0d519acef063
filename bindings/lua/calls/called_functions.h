/* called_functions.h - the functions that were called, under the names that samples show.
 *
 * Only the owner thread may call these.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_CALLED_FUNCTIONS_H
#define JSPROF_LUA_CALLED_FUNCTIONS_H

#include "attach.h"

/* Functions whose calls change what is counted. */
enum jsp_lua_special {
    JSP_LUA_USUAL,
    JSP_LUA_RESUMES, /* coroutine.resume, or a function that coroutine.wrap made */
    JSP_LUA_JIT_ON,
    JSP_LUA_JIT_OFF,
};

struct jsp_lua_called {
    struct jsp_lua_key key;
    jsprof_function *function;
    bool is_c;
    enum jsp_lua_special special;
};

struct jsp_lua_called_table;

/* Return NULL if there is no memory. */
struct jsp_lua_called_table *jsp_lua_called_new(struct jsprof_lua *lua);
void jsp_lua_called_free(struct jsp_lua_called_table *t);

static inline bool jsp_lua_called_is(const struct jsp_lua_key *a, const struct jsp_lua_key *b)
{
    return a->at == b->at && a->code == b->code && a->source == b->source && a->line == b->line;
}

/* Pop the function on top of L's stack and return its entry. A new function, which runs
 * on L's `level`, gets the name that a walk shows for it. Return NULL if there is no
 * memory. It is valid as long as the table. */
const struct jsp_lua_called *jsp_lua_called_pop(struct jsp_lua_called_table *t, lua_State *L,
                                                uint32_t level);

#endif
