/* state.c - the functions of walk.h for a PUC Lua state, outside of signals.
 *
 * SPDX-License-Identifier: MIT
 */
#include "naming.h"
#include "puc/puc.h"

#include JSPROF_LUA_LAYOUT

enum {
    STATE_CALLS = 200,         /* calls to check; a deeper stack is accepted */
    STATE_STACK = 1024 * 1024, /* bytes of C stack from a probe to the call that protects it */
};

const char *jsp_lua_walk_version(void)
{
    return layout.version;
}

int jsp_lua_walk_first_release(void)
{
    return layout.first_release;
}

bool jsp_lua_walk_ends(struct jsp_lua_walker *w, uintptr_t state)
{
    struct jsp_lua_state s;
    struct jsp_puc_ci ci;
    jsp_lua_read_begin(&w->read);
    bool more = jsp_puc_state(&w->read, state, &s) && jsp_puc_ci(&w->read, s.ci, &ci);
    uintptr_t jump_above = s.error_jmp - (uintptr_t)__builtin_frame_address(0);
    for (uint32_t i = 0; more && ci.at != s.base_ci && i < STATE_CALLS; i++)
        more = jsp_puc_ci(&w->read, ci.previous, &ci);
    return more && jump_above < STATE_STACK;
}

bool jsp_lua_walk_has_addresses(void)
{
    return false;
}

uintptr_t jsp_lua_walk_main(struct jsp_lua_walker *w, uintptr_t state)
{
    struct jsp_lua_state s, main_state;
    uintptr_t at;
    jsp_lua_read_begin(&w->read);
    if (!jsp_puc_state(&w->read, state, &s))
        return 0;
    at = s.global + layout.main_thread;
    if ((!layout.main_inside && !jsp_lua_read(&w->read, at, &at, sizeof at)) ||
        !jsp_puc_state(&w->read, at, &main_state) || main_state.global != s.global)
        return 0;
    return at;
}

void jsp_lua_walk_learn(struct jsp_lua_walker *w, uintptr_t running)
{
    (void)w, (void)running;
}

void jsp_lua_walk_name(struct jsp_lua_walker *w, uintptr_t object, uintptr_t c_function,
                       const char *name)
{
    struct jsp_lua_function f = { .kind = JSP_LUA_C, .c = c_function };
    if (!c_function) {
        jsp_lua_read_begin(&w->read);
        jsp_lua_function_read(&w->read, object, &f);
    }
    jsp_lua_naming_given(w, &f, name);
}

void jsp_lua_walk_key(uintptr_t object, uintptr_t c_function, struct jsp_lua_key *key)
{
    *key = (struct jsp_lua_key){ .at = c_function };
    if (c_function)
        return;
    uintptr_t p = jsp_lua_pointer((const void *)object, layout.closure_proto);
    *key = jsp_lua_proto_key((const void *)p, p);
}

uintptr_t jsp_lua_walk_global(uintptr_t state)
{
    return jsp_lua_pointer((const void *)state, layout.global);
}

size_t jsp_lua_walk_global_at(void)
{
    return layout.global;
}

int jsp_lua_walk_memory(uintptr_t global, uintptr_t at[2])
{
    at[0] = global + layout.total_bytes;
    at[1] = layout.gc_debt ? global + layout.gc_debt : 0;
    return layout.debt_is_in_total ? -1 : 1;
}

void jsp_lua_walk_compile(lua_State *L, bool may)
{
    (void)L, (void)may;
}
