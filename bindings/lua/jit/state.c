/* state.c - the functions of walk.h for a LuaJIT state, outside of signals.
 *
 * SPDX-License-Identifier: MIT
 */
#include <luajit.h>

#include "compat.h"
#include "jit/jit_walk.h"

#pragma weak luaJIT_setmode /* as in compat.h */

const char *jsp_lua_walk_version(void)
{
    return "jit";
}

int jsp_lua_walk_first_release(void)
{
    return 0;
}

/* The walk checks the links between frames one by one. */
bool jsp_lua_walk_ends(struct jsp_lua_walker *w, uintptr_t state)
{
    (void)w, (void)state;
    return true;
}

bool jsp_lua_walk_has_addresses(void)
{
    return true;
}

uintptr_t jsp_lua_walk_main(struct jsp_lua_walker *w, uintptr_t state)
{
    struct jsp_jit_thread t, main_thread;
    uintptr_t global, of_main, at;
    jsp_lua_read_begin(&w->read);
    if (!jsp_jit_thread_read(&w->read, state, &t, &global) ||
        !jsp_lua_read(&w->read, global + JIT_G_MAIN, &at, sizeof at) ||
        !jsp_jit_thread_read(&w->read, at, &main_thread, &of_main) || of_main != global)
        return 0;
    return at;
}

void jsp_lua_walk_name(struct jsp_lua_walker *w, uintptr_t object, uintptr_t c_function,
                       const char *name)
{
    enum { AT_ONCE = 64 };
    struct jsp_lua_function f;
    (void)c_function; /* LuaJIT's own functions have numbers, which identify them */
    /* One walk reads many functions that lie in the same pages, if no sample comes in between. */
    if (!w->jit.named_walk || w->jit.named_walk != w->read.walk ||
        w->jit.n_named++ == AT_ONCE) {
        jsp_lua_read_begin(&w->read);
        w->jit.named_walk = w->read.walk;
        w->jit.n_named = 0;
    }
    jsp_lua_function_read(&w->read, object, &f);
    jsp_lua_naming_given(w, &f, name);
}

void jsp_lua_walk_key(uintptr_t object, uintptr_t c_function, struct jsp_lua_key *key)
{
    const char *f = (const char *)object;
    (void)c_function;
    uint8_t id = jsp_lua_u8(f, JIT_F_ID);
    *key = (struct jsp_lua_key){ .at = id == JIT_ID_C ? jsp_lua_pointer(f, JIT_F_C) : id };
    if (id != JIT_ID_LUA)
        return;
    uintptr_t p = jsp_lua_pointer(f, JIT_F_CODE) - JIT_P_BYTES;
    *key = jsp_lua_proto_key((const void *)p, p);
}

uintptr_t jsp_lua_walk_global(uintptr_t state)
{
    return jsp_lua_pointer((const void *)state, JIT_L_GLOBAL);
}

size_t jsp_lua_walk_global_at(void)
{
    return JIT_L_GLOBAL;
}

int jsp_lua_walk_memory(uintptr_t global, uintptr_t at[2])
{
    at[0] = global + JIT_G_TOTAL;
    at[1] = 0;
    return 1;
}

void jsp_lua_walk_compile(lua_State *L, bool may)
{
    luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | (may ? LUAJIT_MODE_ON : LUAJIT_MODE_OFF));
    if (!may)
        luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_FLUSH);
}
