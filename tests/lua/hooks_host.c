/* hooks_host.c - a C program that sets hooks for coroutines of its Lua, several C functions,
 * and counts calls by jsprof_lua_calls: its hooks see as much as without, and afterwards each
 * is where it was; also on another thread, where nobody counts.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"
#include "jsprof-lua.h"

enum { HOST_HOOKS = 5, HOST_BORN = 100, HOST_LINES = 64 };

static const char host_script[] =
    "local function leaf(n) return n % 3 end\n"
    "function body() while true do for i = 1, 50 do leaf(i) end coroutine.yield() end end\n"
    "function round() for _, co in ipairs(list) do assert(coroutine.resume(co)) end end\n";

static int host_failed;
static unsigned host_seen[HOST_HOOKS];
static int host_lines[HOST_LINES], host_n_lines = -1;
static int host_left = -1; /* blocks that the allocator still gives; negative: all */

#define HOST_IS(condition) \
    ((condition) ? (void)0 \
                 : (void)(host_failed = 1, fprintf(stderr, "line %d: %s\n", __LINE__, #condition)))

static void host_a(lua_State *L, lua_Debug *ar) { (void)L, (void)ar, host_seen[0]++; }
static void host_b(lua_State *L, lua_Debug *ar) { (void)L, (void)ar, host_seen[1]++; }
static void host_d(lua_State *L, lua_Debug *ar) { (void)L, (void)ar, host_seen[3]++; }

/* Stops at each line, if somebody notes them. */
static void host_c(lua_State *L, lua_Debug *ar)
{
    host_seen[2]++;
    if (host_n_lines < 0 || host_n_lines >= HOST_LINES)
        return;
    host_lines[host_n_lines++] = ar->currentline;
    lua_yield(L, 0);
}

/* More of them than there is room for: the last one is left alone. And one without. */
static const struct {
    lua_Hook f;
    int mask, count;
} host_hooks[HOST_HOOKS] = {
    { host_a, LUA_MASKLINE, 0 },
    { host_b, LUA_MASKCALL | LUA_MASKCOUNT, 7 },
    { host_c, LUA_MASKRET, 3 },
    { host_d, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1000 },
    { NULL, 0, 0 },
};

static void *host_alloc(void *unused, void *block, size_t before, size_t after)
{
    (void)unused;
    if (!after) {
        free(block);
        return NULL;
    }
    if (host_left >= 0 && (!block || after > before) && host_left-- == 0) {
        host_left = 0;
        return NULL;
    }
    return realloc(block, after);
}

static void host_call(lua_State *L, const char *name)
{
    lua_getglobal(L, name);
    HOST_IS(lua_pcall(L, 0, 0, 0) == 0);
}

static lua_State *host_coroutine(lua_State *L, int i)
{
    lua_State *co = lua_newthread(L);
    lua_getglobal(L, "body");
    lua_xmove(L, co, 1);
    if (host_hooks[i].f)
        lua_sethook(co, host_hooks[i].f, host_hooks[i].mask, host_hooks[i].count);
    return co;
}

/* In a global list, so that Lua resumes them. */
static void host_coroutines(lua_State *L, lua_State **co)
{
    lua_newtable(L);
    for (int i = 0; i < HOST_HOOKS; i++) {
        co[i] = host_coroutine(L, i);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setglobal(L, "list");
}

static void host_same(lua_State *co, int i)
{
    HOST_IS(lua_gethook(co) == host_hooks[i].f);
    HOST_IS(lua_gethookmask(co) == host_hooks[i].mask);
    HOST_IS(lua_gethookcount(co) == host_hooks[i].count);
}

/* Before, while and after calls are counted, or not: how much each hook sees. */
static void host_rounds(jsprof_lua *lua, lua_State *L, unsigned *seen)
{
    lua_State *co[HOST_HOOKS];
    memset(host_seen, 0, sizeof host_seen);
    host_coroutines(L, co);
    host_call(L, "round");
    if (lua)
        HOST_IS(jsprof_lua_calls(lua, L, JSPROF_CALLS_ALL) == 0);
    host_call(L, "round");
    HOST_IS((lua_gethook(co[0]) == host_a) == !lua);
    HOST_IS(lua_gethook(co[3]) == host_d);
    if (lua)
        HOST_IS(jsprof_lua_calls(lua, L, 0) == 0);
    for (int i = 0; i < HOST_HOOKS; i++)
        host_same(co[i], i);
    host_call(L, "round");
    memcpy(seen, host_seen, sizeof host_seen);
}

/* Made while calls are counted, by one that has a hook; most of them are collected. */
static void host_heirs(jsprof_lua *lua, lua_State *L)
{
    lua_State *kept[2];
    lua_sethook(L, host_a, LUA_MASKLINE, 5);
    HOST_IS(jsprof_lua_calls(lua, L, JSPROF_CALLS_ALL) == 0);
    kept[0] = lua_newthread(L);
    for (int i = 0; i < HOST_BORN; i++) {
        lua_newthread(L);
        lua_pop(L, 1);
    }
    kept[1] = lua_newthread(kept[0]);
    lua_gc(L, LUA_GCCOLLECT, 0);
    HOST_IS(lua_gethook(kept[1]) != host_a);
    HOST_IS(jsprof_lua_calls(lua, L, 0) == 0);
    for (int i = 0; i < 2; i++) {
        HOST_IS(lua_gethook(kept[i]) == host_a);
        HOST_IS(lua_gethookmask(kept[i]) == LUA_MASKLINE && lua_gethookcount(kept[i]) == 5);
    }
    lua_sethook(L, NULL, 0, 0);
    lua_settop(L, 0);
}

/* A debugger that stops at each line, while counting ends after so many (negative: there is
 * none). */
static void host_steps(jsprof_lua *lua, lua_State *L, int until, int *lines)
{
    host_n_lines = 0;
    memset(host_lines, 0, sizeof host_lines);
    lua_sethook(L, host_c, LUA_MASKLINE, 0);
    if (until >= 0)
        HOST_IS(jsprof_lua_calls(lua, L, JSPROF_CALLS_ALL) == 0);
    lua_State *co = lua_newthread(L);
    HOST_IS(luaL_loadstring(co, "for i = 1, 5 do local x = i + 1\n x = x * 2 + x\n"
                                " x = { x, x } end") == 0);
    for (int i = 0; compat_resume(co, L, 0) == LUA_YIELD && i < HOST_LINES; i++)
        if (i == until)
            HOST_IS(jsprof_lua_calls(lua, L, 0) == 0);
    lua_sethook(L, NULL, 0, 0);
    lua_settop(L, 0);
    memcpy(lines, host_lines, sizeof host_lines);
    host_n_lines = -1;
}

/* 5.1 reports the same line for ever. */
static void host_stepped(jsprof_lua *lua, lua_State *L)
{
    int wanted[HOST_LINES], lines[HOST_LINES];
    if (LUA_VERSION_NUM == 501)
        return;
    host_steps(lua, L, -1, wanted);
    HOST_IS(wanted[0] == 1 && wanted[12] && !wanted[HOST_LINES - 1]);
    for (int until = 0; until < 12; until++) {
        host_steps(lua, L, until, lines);
        HOST_IS(memcmp(wanted, lines, sizeof lines) == 0);
    }
}

static int host_new(lua_State *L)
{
    host_left = 1; /* for the coroutine; none for its stack */
    lua_newthread(L);
    return 0;
}

/* One that was never completed, as memory ran out, is there until it is collected. */
static void host_incomplete(jsprof_lua *lua, lua_State *L)
{
    HOST_IS(jsprof_lua_calls(lua, L, JSPROF_CALLS_ALL) == 0);
    lua_pushcfunction(L, host_new);
    HOST_IS(lua_pcall(L, 0, 0, 0) == LUA_ERRMEM);
    host_left = -1;
    HOST_IS(jsprof_lua_calls(lua, L, 0) == 0);
    lua_settop(L, 0);
}

static void *host_elsewhere(void *L)
{
    host_call(L, "round");
    return NULL;
}

/* Nobody counts on another thread; the hook is called all the same, and alone then. */
static void host_moves(jsprof_lua *lua, lua_State *L)
{
    pthread_t thread;
    lua_State *co[HOST_HOOKS];
    host_coroutines(L, co);
    host_call(L, "round");
    memset(host_seen, 0, sizeof host_seen);
    host_call(L, "round");
    unsigned lines = host_seen[0];
    HOST_IS(jsprof_lua_calls(lua, L, JSPROF_CALLS_ALL) == 0);
    host_call(L, "round");
    HOST_IS(host_seen[0] == 2 * lines);
    HOST_IS(pthread_create(&thread, NULL, host_elsewhere, L) == 0);
    pthread_join(thread, NULL);
    HOST_IS(host_seen[0] == 3 * lines);
    host_same(co[0], 0);
    HOST_IS(jsprof_lua_calls(lua, L, 0) == 0);
}

int main(int argc, char **argv)
{
    jsprof_options options = { .size = sizeof options, .path = argc > 1 ? argv[1] : NULL };
    unsigned wanted[HOST_HOOKS], seen[HOST_HOOKS];
    lua_State *L = compat_newstate(host_alloc, NULL);
    jsprof *session;
    jsprof_thread *me;
    jsprof_lua *lua;
    luaL_openlibs(L);
    HOST_IS(luaL_dostring(L, host_script) == 0);
    HOST_IS(jsprof_open(&session, &options) == 0);
    HOST_IS(jsprof_thread_attach(session, "main", &me) == 0);
    HOST_IS(jsprof_lua_attach(session, me, L, &lua) == 0);
    if (host_failed)
        return 1;
    host_rounds(NULL, L, wanted);
    host_rounds(lua, L, seen);
    for (int i = 0; i < HOST_HOOKS; i++)
        if (wanted[i] != seen[i])
            host_failed = 1, fprintf(stderr, "hook %d: %u, not %u\n", i, seen[i], wanted[i]);
    HOST_IS(wanted[0] > 100 && wanted[1] > 100 && wanted[2] > 100 && !wanted[4]);
    host_heirs(lua, L);
    host_stepped(lua, L);
    host_incomplete(lua, L);
    host_moves(lua, L);
    HOST_IS(jsprof_lua_detach(lua) == 0);
    HOST_IS(jsprof_thread_detach(me) == 0);
    HOST_IS(jsprof_close(session) == 0);
    lua_close(L);
    return host_failed;
}
