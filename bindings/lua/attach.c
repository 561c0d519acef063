/* attach.c - attaching a Lua state to a session's thread; see jsprof-lua.h for the
 * contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "attach.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api.h"
#include "asleep.h"
#include "collector.h"
#include "own_stack.h"
#include "probe.h"

/* Return the tie of this state to this thread, or NULL. The registry holds, at the
 * thread's address, the userdata whose finalizer notices that the state closes. */
static struct jsprof_lua *attach_of(lua_State *L, jsprof_thread *thread)
{
    lua_pushlightuserdata(L, thread);
    lua_rawget(L, LUA_REGISTRYINDEX);
    struct jsprof_lua **box = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return box ? *box : NULL;
}

static void attach_forget(struct jsprof_lua *lua)
{
    if (lua->box)
        *lua->box = NULL;
    lua->box = NULL;
}

static int attach_on_close(lua_State *L)
{
    struct jsprof_lua **box = lua_touserdata(L, 1);
    struct jsprof_lua *lua = box ? *box : NULL;
    if (!lua)
        return 0;
    attach_forget(lua);
    lua->walker->root = 0; /* of use where another thread closes the state: the next call fails */
    jsp_lua_walkers_end(lua);
    jsp_lua_count_end(lua, NULL);
    if (lua->on_close)
        lua->on_close(L, lua->on_close_data);
    return 0;
}

/* Make the userdata. Runs protected. */
static int attach_make_box(lua_State *L)
{
    struct jsprof_lua *lua = lua_touserdata(L, 1);
    lua_pushlightuserdata(L, lua->thread);
    struct jsprof_lua **box = lua_newuserdata(L, sizeof *box);
    *box = NULL;
    lua_newtable(L);
    lua_pushcfunction(L, attach_on_close);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
    *box = lua;
    lua->box = box;
    return 0;
}

int jsp_lua_protected(lua_State *L, lua_CFunction f, void *data)
{
    if (!lua_checkstack(L, 4))
        return -ENOMEM;
    int status = compat_cpcall(L, f, data);
    if (status == LUA_OK)
        return 0;
    lua_pop(L, 1);
    return status == LUA_ERRMEM ? -ENOMEM : -ENOTSUP;
}

static void *attach_map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static int attach_walker(struct jsprof_lua *lua, lua_State *L)
{
    lua->walker = attach_map(sizeof *lua->walker);
    if (!lua->walker)
        return -ENOMEM;
    jsp_lua_read_init(&lua->walker->read);
    lua->main = jsp_lua_walk_main(lua->walker, (uintptr_t)L);
    lua->walker->root = lua->main;
    jsp_lua_bounds_function(jsp_lua_api(JSP_LUA_API_RESUME), &lua->walker->resume);
    jsp_lua_bounds_function(jsp_lua_api(JSP_LUA_API_PCALL), &lua->walker->pcall);
    return lua->main ? 0 : -ENOTSUP;
}

static void attach_free(struct jsprof_lua *lua)
{
    jsp_lua_walkers_free(lua);
    free(lua);
}

int jsp_lua_prepare(lua_State *L, struct jsprof_lua **out)
{
    struct jsp_lua_found found;
    if (jsp_lua_probe_version(&found) != JSP_LUA_OURS)
        return -ENOTSUP;
    struct jsprof_lua *lua = calloc(1, sizeof *lua);
    if (!lua)
        return -ENOMEM;
    int err = attach_walker(lua, L);
    if (!err)
        err = jsp_lua_probe(lua, L);
    if (err)
        attach_free(lua);
    else
        *out = lua;
    return err;
}

void jsp_lua_walk_set_stack(struct jsp_lua_walker *w)
{
    struct jsp_lua_own_stack own = jsp_lua_own_stack();
    w->stack_low = own.low;
    w->stack_high = own.high;
}

int jsp_lua_tie(struct jsprof_lua *lua, jsprof *session, jsprof_thread *thread, lua_State *L)
{
    lua->session = session;
    lua->thread = thread;
    jsp_lua_walk_set_stack(lua->walker);
    int err = jsp_lua_probe_code(lua, L);
    if (!err)
        err = jsp_lua_collector_register(lua);
    if (!err)
        err = jsp_lua_protected(L, attach_make_box, lua);
    if (!err)
        err = jsp_lua_walkers_set(lua);
    if (err)
        attach_forget(lua);
    return err;
}

int jsprof_lua_attach(jsprof *session, jsprof_thread *thread, lua_State *L, jsprof_lua **out)
{
    struct jsprof_lua *lua;
    struct jsp_lua_found found;
    if (!session || !thread || !L || !out)
        return -EINVAL;
    if (jsp_lua_probe_version(&found) != JSP_LUA_OURS)
        return -ENOTSUP;
    if (attach_of(L, thread))
        return -EALREADY;
    int err = jsp_lua_prepare(L, &lua);
    if (err)
        return err;
    err = jsp_lua_tie(lua, session, thread, L);
    if (err)
        attach_free(lua);
    else
        *out = lua;
    return err;
}

int jsprof_lua_detach(jsprof_lua *lua)
{
    if (!lua)
        return 0;
    int err = jsp_lua_walkers_end(lua);
    if (err && lua->box)
        return err;
    jsp_lua_count_end(lua, lua->box ? (lua_State *)lua->main : NULL);
    attach_forget(lua);
    attach_free(lua);
    return 0;
}

lua_State *jsprof_lua_running(jsprof_lua *lua, lua_State *co)
{
    lua_State *before = (lua_State *)lua->walker->root;
    lua->walker->root = co ? (uintptr_t)co : lua->main;
    return before;
}
