/* called.c - see called.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "called.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLED_NAMES = 256 /* power of two */, CALLED_FRAMES = 64,
       CALLED_TEXT = JSP_LUA_NAME + JSP_LUA_WHERE + 4 };

/* A function that was called. */
struct called_name {
    struct jsp_lua_key key; /* at 0: empty */
    char text[CALLED_TEXT];
};

struct jsp_lua_called {
    struct jsp_lua_key wrapped; /* of the C function that resumes for coroutine.wrap */
    struct called_name names[CALLED_NAMES]; /* by the key's hash; a new one replaces the old */
};

static void called_key(lua_State *L, int at, struct jsp_lua_key *key)
{
    jsp_lua_walk_key((uintptr_t)lua_topointer(L, at), (uintptr_t)lua_tocfunction(L, at), key);
}

/* Write the name that a walk finds in the code of the functions on the stack, with the place
 * of the function at `at`. */
static void called_describe(lua_State *L, int at, struct module_run *run, struct called_name *to)
{
    struct jsp_lua_walker *w = run->lua->walker;
    jsprof_frame frames[CALLED_FRAMES];
    const struct jsp_lua_label *label = NULL;
    char where[JSP_LUA_WHERE] = "[C]";
    lua_Debug ar = { 0 };
    snprintf(to->text, CALLED_TEXT, "?");
    if (!lua_checkstack(L, 2))
        return;
    lua_pushvalue(L, at);
    if (lua_getinfo(L, ">S", &ar) && to->key.code) {
        size_t n = strlen(ar.source);
        jsp_lua_where(&(struct jsp_lua_chunk){ ar.source, n, n, to->key.line }, where);
    }
    if (run->runner == run->maker) { /* otherwise another thread's handler uses the labels */
        jsprof_thread_pause(run->thread);
        label = jsp_lua_label_find(&w->labels, &to->key);
        if (!label) {
            jsp_lua_walk_sigsafe(w, NULL, frames, CALLED_FRAMES);
            label = jsp_lua_label_find(&w->labels, &to->key);
        }
        if (label && label->name)
            snprintf(to->text, CALLED_TEXT, "%s (%s)", label->name, where);
        jsprof_thread_resume(run->thread);
    }
    if (to->text[0] == '?')
        snprintf(to->text, CALLED_TEXT, "%s (%s)", to->key.line ? "function" : "main chunk", where);
}

static const char *called_text(lua_State *L, int at, struct module_run *run,
                             const struct jsp_lua_key *key)
{
    uint64_t hash = (uint64_t)(key->at ^ key->code << 20) * 0x9E3779B97F4A7C15u;
    struct called_name *name = &run->called->names[hash >> 32 & (CALLED_NAMES - 1)];
    if (memcmp(&name->key, key, sizeof *key) != 0) {
        name->key = *key;
        called_describe(L, at, run, name);
    }
    return name->text;
}

/* Push the outermost function of a coroutine that has yielded. Return false, and push nothing,
 * if that can not be done. */
static bool called_push_first(lua_State *L)
{
    lua_Debug ar;
    int low = 0, high = 1;
    if (!lua_checkstack(L, 2))
        return false;
    while (lua_getstack(L, high, &ar)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (lua_getstack(L, middle, &ar))
            low = middle;
        else
            high = middle;
    }
    return lua_getstack(L, low, &ar) && lua_getinfo(L, "f", &ar);
}

const char *jsp_lua_called_coroutine(lua_State *co, int n, struct module_run *run)
{
    struct jsp_lua_key key;
    bool has_yielded = lua_status(co) == LUA_YIELD;
    const char *text = NULL;
    int at = has_yielded ? -1 : -n - 1;
    if (has_yielded && !called_push_first(co))
        return NULL;
    if (lua_gettop(co) >= -at && lua_isfunction(co, at)) {
        called_key(co, at, &key);
        text = called_text(co, at, run, &key);
    }
    if (has_yielded)
        lua_pop(co, 1);
    return text;
}

const char *jsp_lua_called_function(lua_State *L, int n, struct module_run *run)
{
    struct jsp_lua_key key;
    int at = -n - 1;
    if (!lua_isfunction(L, at))
        return NULL;
    called_key(L, at, &key);
    if (memcmp(&key, &run->called->wrapped, sizeof key) != 0)
        return key.code && key.line ? called_text(L, at, run, &key) : NULL;
    if (!lua_checkstack(L, 1) || !lua_getupvalue(L, at, 1))
        return NULL;
    lua_State *co = lua_tothread(L, -1);
    lua_pop(L, 1); /* the function keeps it alive */
    return co ? jsp_lua_called_coroutine(co, 0, run) : NULL;
}

/* Learn which C function resumes for coroutine.wrap. */
static int called_learn(lua_State *L)
{
    static const char make[] = "return coroutine.wrap(function() end)";
    struct jsp_lua_called *called = lua_touserdata(L, 1);
    if (luaL_loadbuffer(L, make, sizeof make - 1, "=jsprof wrap") == 0 &&
        lua_pcall(L, 0, 1, 0) == 0 && lua_iscfunction(L, -1))
        called_key(L, -1, &called->wrapped);
    return 0;
}

int jsp_lua_called_begin(lua_State *L, struct module_run *run)
{
    if (run->called)
        return 0;
    run->called = calloc(1, sizeof *run->called);
    return run->called ? jsp_lua_protected(L, called_learn, run->called) : -ENOMEM;
}

void jsp_lua_called_end(struct module_run *run)
{
    free(run->called);
    run->called = NULL;
}

bool jsp_lua_called_running(lua_State *L, struct module_run *run, char out[JSP_LUA_NAME])
{
    const struct jsp_lua_label *label = NULL;
    struct jsp_lua_key key;
    lua_Debug ar;
    if (run->runner != run->maker || !lua_checkstack(L, 2) || !lua_getstack(L, 0, &ar) ||
        !lua_getinfo(L, "f", &ar))
        return false;
    if (lua_iscfunction(L, -1)) {
        called_key(L, -1, &key);
        jsprof_thread_pause(run->thread);
        label = jsp_lua_label_find(&run->lua->walker->labels, &key);
        if (label && label->name)
            snprintf(out, JSP_LUA_NAME, "%s", label->name);
        jsprof_thread_resume(run->thread);
    }
    lua_pop(L, 1);
    return label && label->name;
}
