/* module_names.c - see module_names.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "module_names.h"

#include <string.h>

#include "source_line.h"

/* Which functions of a table get names: all, only those in C, or those and the Lua functions whose
 * source line has their name. */
enum names_which { NAMES_ALL, NAMES_C, NAMES_SOURCE };

/* Return whether the Lua function on top, whose name is below it, has that name in its source. A
 * program with very many functions keeps its table for those that samples meet. */
static bool names_is_in_source(lua_State *L, const struct jsprof_lua *lua,
                               struct jsp_lua_source *source)
{
    lua_Debug ar;
    if (lua->walker->labels.n >= JSP_LUA_LABELS / 4)
        return false;
    lua_pushvalue(L, -1); /* lua_getinfo takes it off the stack */
    return lua_getinfo(L, ">S", &ar) &&
           jsp_lua_source_names(source, ar.source, ar.linedefined, lua_tostring(L, -2));
}

/* Copy as much of a text as fits, with a zero after it. Return its length. */
static size_t names_put(char *to, size_t size, const char *text)
{
    size_t n = strnlen(text, size - 1);
    memcpy(to, text, n);
    to[n] = 0;
    return n;
}

/* Name the functions in the table on top. */
static void names_module(lua_State *L, struct jsprof_lua *lua, const char *module,
                         enum names_which which)
{
    char name[JSP_LUA_NAME];
    size_t n_module = 0;
    struct jsp_lua_source source = { 0 };

    if (strcmp(module, "_G") != 0) {
        n_module = names_put(name, sizeof name, module);
        n_module += names_put(name + n_module, sizeof name - n_module, ".");
    }
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING || !lua_isfunction(L, -1))
            continue;
        if (which != NAMES_ALL && !lua_iscfunction(L, -1) &&
            (which == NAMES_C || !names_is_in_source(L, lua, &source)))
            continue;
        names_put(name + n_module, sizeof name - n_module, lua_tostring(L, -2));
        /* the function is on top of the stack */
        jsprof_thread_pause(lua->thread);
        jsp_lua_walk_name(lua->walker, (uintptr_t)lua_topointer(L, -1),
                          (uintptr_t)lua_tocfunction(L, -1), name);
        jsprof_thread_resume(lua->thread);
    }
    jsp_lua_source_free(&source);
}

/* luaL_newmetatable puts the metatables of types into the registry under their names.
 * Lua's own tables there have names that begin with "_". */
static void names_types(lua_State *L, struct jsprof_lua *lua)
{
    lua_pushvalue(L, LUA_REGISTRYINDEX);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        const char *type = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "_";
        if (*type != '_' && lua_istable(L, -1)) {
            /* the metamethods, whose table is on top, and the methods */
            names_module(L, lua, type, NAMES_C);
            lua_pushliteral(L, "__index");
            lua_rawget(L, -2);
            if (lua_istable(L, -1))
                names_module(L, lua, type, NAMES_C);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

/* Name the functions that standard functions return. A chunk calls each of them. */
static const char names_given[] =
    "local found = {}\n"
    "local function keep(name, make, ...)\n"
    "  local ok, f = pcall(make, ...)\n"
    "  if ok and type(f) == 'function' then found[name] = f end\n"
    "end\n"
    "if string then keep('string.gmatch iterator', string.gmatch, '', '') end\n"
    "if coroutine then keep('coroutine.wrap resume', coroutine.wrap, function() end) end\n"
    "if ipairs then keep('ipairs iterator', ipairs, {}) end\n"
    "if io then keep('io.lines iterator', io.lines, '/dev/null') end\n"
    "pcall(found['io.lines iterator']) -- at the end of the file it closes that\n"
    "return found\n";

/* A function that is in two modules gets the first one's name. */
static const char *const names_first[] = { "_G", "string", "table", "math", "io", "os",
                                           "coroutine", "debug", "package", "utf8", "bit32" };

static bool names_was_first(const char *module)
{
    for (size_t i = 0; i < sizeof names_first / sizeof *names_first; i++)
        if (strcmp(module, names_first[i]) == 0)
            return true;
    return false;
}

int jsp_lua_name_modules(lua_State *L)
{
    struct jsprof_lua *lua = lua_touserdata(L, 1);
    luaL_checkstack(L, 16, "jsprof");
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    if (!lua_istable(L, -1))
        return 0;
    for (size_t i = 0; i < sizeof names_first / sizeof *names_first; i++) {
        lua_getfield(L, -1, names_first[i]);
        if (lua_istable(L, -1))
            names_module(L, lua, names_first[i], NAMES_ALL);
        lua_pop(L, 1);
    }
    if (luaL_loadbuffer(L, names_given, sizeof names_given - 1, "=jsprof names") == 0 &&
        lua_pcall(L, 0, 1, 0) == 0 && lua_istable(L, -1))
        names_module(L, lua, "_G", NAMES_ALL);
    lua_pop(L, 1);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING && lua_istable(L, -1) &&
            !names_was_first(lua_tostring(L, -2)))
            names_module(L, lua, lua_tostring(L, -2), NAMES_ALL);
    names_types(L, lua);
    return 0;
}

void jsp_lua_name_new_module(lua_State *L, struct jsprof_lua *lua, const char *module)
{
    int top = lua_gettop(L);
    luaL_checkstack(L, 16, "jsprof");
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    if (lua_istable(L, -1)) {
        lua_getfield(L, -1, module);
        if (lua_istable(L, -1))
            names_module(L, lua, module, NAMES_SOURCE);
        names_types(L, lua);
    }
    lua_settop(L, top);
}

/* -- Without `require` ---------------------------------------------------------------- */

static int names_c_functions(lua_State *L)
{
    struct jsprof_lua *lua = lua_touserdata(L, 1);
    luaL_checkstack(L, 16, "jsprof");
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    if (!lua_istable(L, -1))
        return 0;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING && lua_istable(L, -1))
            names_module(L, lua, lua_tostring(L, -2), NAMES_C);
    names_types(L, lua);
    return 0;
}

void jsp_lua_name_c_functions(lua_State *L, struct jsprof_lua *lua)
{
    jsp_lua_protected(L, names_c_functions, lua);
}

struct names_search {
    const void *function;
    const char *name;
    char *out; /* of JSP_LUA_NAME bytes */
};

static int names_in_module(lua_State *L)
{
    struct names_search *s = lua_touserdata(L, 1);
    luaL_checkstack(L, 8, "jsprof");
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    if (!lua_istable(L, -1))
        return 0;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        const char *module = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "_G";
        if (strcmp(module, "_G") == 0 || !lua_istable(L, -1))
            continue;
        lua_pushstring(L, s->name);
        lua_rawget(L, -2);
        bool is_it = lua_topointer(L, -1) == s->function;
        lua_pop(L, 1);
        if (is_it) {
            snprintf(s->out, JSP_LUA_NAME, "%s.%s", module, s->name);
            return 0;
        }
    }
    return 0;
}

bool jsp_lua_name_in_module(lua_State *L, const void *function, const char *name,
                            char out[JSP_LUA_NAME])
{
    out[0] = 0;
    jsp_lua_protected(L, names_in_module, &(struct names_search){ function, name, out });
    return out[0];
}
