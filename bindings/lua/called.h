/* called.h - the functions that were called, under the names that samples show.
 *
 * Owner thread only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_CALLED_H
#define JSPROF_LUA_CALLED_H

#include "attach.h"

/* Functions that change what is counted. */
enum jsp_lua_special {
    JSP_LUA_USUAL,
    JSP_LUA_RESUMES, /* coroutine.resume, or what coroutine.wrap made */
    JSP_LUA_JIT_ON,
    JSP_LUA_JIT_OFF,
};

struct jsp_lua_called {
    struct jsp_lua_key key; /* at 0: free */
    jsprof_function *function;
    bool is_c;
    enum jsp_lua_special special;
};

struct jsp_lua_table;

/* NULL: no memory. */
struct jsp_lua_table *jsp_lua_table_new(struct jsprof_lua *lua);
void jsp_lua_table_free(struct jsp_lua_table *t);

/* The function on top of L's stack, which is taken off; it runs on L's `level`, which names
 * it when it is seen for the first time. NULL: no memory. Good until the next one. */
const struct jsp_lua_called *jsp_lua_table_pop(struct jsp_lua_table *t, lua_State *L,
                                               uint32_t level);

#endif
