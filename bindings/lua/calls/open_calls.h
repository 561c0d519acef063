/* open_calls.h - the calls that are open in each coroutine, kept by the hooks' events.
 *
 * Hooks report calls and returns. They report neither the frames that an error removes
 * nor, in LuaJIT, the return of a C function. So each event carries its place (place.h),
 * and every call at that place or further in has ended. Coroutines are stacks that resume
 * each other: the clock of the calls on one of them stops while it is suspended. Only the
 * owner thread may call these.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_OPEN_CALLS_H
#define JSPROF_LUA_OPEN_CALLS_H

#include "calls/place.h"

struct jsp_lua_open_calls;

/* `main` is the main coroutine: it runs, or has resumed the one that runs. Return 0 or
 * -ENOMEM. */
int jsp_lua_open_new(struct jsp_lua_open_calls **out, jsprof_thread *thread, lua_State *main);
void jsp_lua_open_free(struct jsp_lua_open_calls *o);

/* Note that this coroutine runs: those that it resumed have returned or yielded. */
void jsp_lua_open_switch(struct jsp_lua_open_calls *o, lua_State *L);

/* Note an event in the running coroutine: a call at `at`, which may replace an open one;
 * a return; or that the function at `at` continues. */
void jsp_lua_open_enter(struct jsp_lua_open_calls *o, const jsprof_function *f, uintptr_t at,
                        bool is_c);
void jsp_lua_open_leave(struct jsp_lua_open_calls *o, uintptr_t at);
void jsp_lua_open_at(struct jsp_lua_open_calls *o, uintptr_t at);

/* Add a call that was open before counting began. The caller passes the outermost first,
 * and all of them before the first event. */
void jsp_lua_open_adopt(struct jsp_lua_open_calls *o, const jsprof_function *f, uintptr_t at,
                        bool is_c);
jsprof_link *jsp_lua_open_top(const struct jsp_lua_open_calls *o);

/* Return whether the innermost open call is one of a C function. */
bool jsp_lua_open_in_c(const struct jsp_lua_open_calls *o);

#endif
