/* called_functions.h - the functions that were called, under the names that samples show.
 *
 * Owner thread only.
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
    struct jsp_lua_key key; /* at 0: the slot is free */
    jsprof_function *function;
    bool is_c;
    enum jsp_lua_special special;
};

struct jsp_lua_called_table;

/* NULL: no memory. */
struct jsp_lua_called_table *jsp_lua_called_new(struct jsprof_lua *lua);
void jsp_lua_called_free(struct jsp_lua_called_table *t);

/* Pop the function on top of L's stack and return its entry. A function that is new gets the
 * name that a walk shows for it; it runs on L's `level`. NULL: no memory. The entry is good
 * until the next call. */
const struct jsp_lua_called *jsp_lua_called_pop(struct jsp_lua_called_table *t, lua_State *L,
                                                uint32_t level);

#endif
