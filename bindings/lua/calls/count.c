/* count.c - exact calls and allocations of a state, on and off; see jsprof-lua.h and
 * attach.h for the contracts.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>

#include "calls/alloc.h"
#include "attach.h"
#include "calls/calls.h"

void jsp_lua_count_end(struct jsprof_lua *lua, lua_State *L)
{
    jsp_lua_alloc_end(lua->alloc, (lua_State *)lua->main);
    jsp_lua_calls_end(lua->calls, L);
    lua->alloc = NULL;
    lua->calls = NULL;
}

int jsprof_lua_allocations(jsprof_lua *lua, lua_State *L)
{
    if (!lua || !L || !lua->box ||
        jsp_lua_walk_global((uintptr_t)L) != jsp_lua_walk_global(lua->main))
        return -EINVAL;
    int err = lua->alloc ? 0 : jsp_lua_alloc_begin(&lua->alloc, lua->thread, L);
    lua->samples_alloc = !err;
    return err;
}

/* Stop counting, but go on with samples. */
static void count_stop(struct jsprof_lua *lua, lua_State *L)
{
    if (!lua->samples_alloc) {
        jsp_lua_count_end(lua, L);
        return;
    }
    jsp_lua_calls_end(lua->calls, L);
    lua->calls = NULL;
}

int jsprof_lua_calls(jsprof_lua *lua, lua_State *L, uint32_t modes)
{
    if (!lua || !L || !lua->box || modes & ~(uint32_t)JSPROF_CALLS_ALL ||
        jsp_lua_walk_global((uintptr_t)L) != jsp_lua_walk_global(lua->main))
        return -EINVAL;
    if (modes && lua->calls)
        return -EALREADY;
    if (modes) {
        int err = jsp_lua_calls_begin(&lua->calls, lua, L, modes);
        if (!err && modes & JSPROF_CALLS_ALLOC && !lua->alloc)
            err = jsp_lua_alloc_begin(&lua->alloc, lua->thread, L);
        if (err)
            count_stop(lua, L);
        return err;
    }
    count_stop(lua, L);
    return jsprof_calls_set(lua->session, 0);
}
