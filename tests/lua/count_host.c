/* count_host.c - a C program that embeds Lua, with an allocator of its own, and counts calls
 * and bytes by jsprof_lua_calls: what it may ask, what it gets back, and that its allocator
 * is its own again, also where the state is closed in the middle of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"
#include "jsprof-lua.h"

enum { HOST_THREADS = 3, HOST_CALLS = 1000 };

static const char host_script[] =
    "local list = false\n"
    "local function made(n) list = { list } if n > 0 then return (made(n - 1)) end end\n"
    "for _ = 1, 10 do made(99) end\n";

static int host_failed;
static jsprof *host_session;

#define HOST_IS(condition) \
    ((condition) ? (void)0 \
                 : (void)(host_failed = 1, fprintf(stderr, "line %d: %s\n", __LINE__, #condition)))

/* Gives what is left of its budget, and counts what it gave. */
struct host_budget {
    size_t left, given;
};

static void *host_alloc(void *data, void *block, size_t before, size_t after)
{
    struct host_budget *b = data;
    size_t had = block ? before : 0;
    if (!after) {
        b->left += had;
        free(block);
        return NULL;
    }
    if (after > had && after - had > b->left)
        return NULL;
    void *more = realloc(block, after);
    if (more && after > had)
        b->given += after - had;
    if (more)
        b->left -= after - had;
    return more;
}

static lua_State *host_state(struct host_budget *b)
{
    lua_State *L = compat_newstate(host_alloc, b);
    if (L)
        luaL_openlibs(L);
    return L;
}

static void host_find_made(uint64_t *n_calls, uint64_t *bytes)
{
    jsprof_calls calls = { .size = sizeof calls };
    *n_calls = *bytes = 0;
    HOST_IS(jsprof_calls_snapshot(host_session, &calls) == 0);
    for (size_t i = 0; i < calls.n_rows; i++) {
        *bytes += calls.rows[i].self_bytes;
        if (calls.rows[i].name_len == 4 && memcmp(calls.rows[i].name, "made", 4) == 0)
            *n_calls += calls.rows[i].calls;
    }
    jsprof_calls_free(&calls);
}

static void host_arguments(jsprof_lua *lua, lua_State *L)
{
    struct host_budget b = { SIZE_MAX / 2, 0 };
    lua_State *other = host_state(&b);
    HOST_IS(jsprof_lua_calls(NULL, L, JSPROF_CALLS_ALL) == -EINVAL);
    HOST_IS(jsprof_lua_calls(lua, NULL, JSPROF_CALLS_ALL) == -EINVAL);
    HOST_IS(jsprof_lua_calls(lua, other, JSPROF_CALLS_ALL) == -EINVAL);
    HOST_IS(jsprof_lua_calls(lua, L, 1u << 20) == -EINVAL);
    HOST_IS(jsprof_lua_calls(lua, L, 0) == 0);
    lua_close(other);
}

/* Count once: all that it allocates is reported, and its allocator is set again. */
static void host_counts(jsprof_lua *lua, lua_State *L, struct host_budget *b)
{
    uint64_t calls, bytes, calls_after, bytes_after;
    void *data;
    host_arguments(lua, L);
    HOST_IS(jsprof_lua_calls(lua, L, JSPROF_CALLS_ALL) == 0);
    HOST_IS(jsprof_lua_calls(lua, L, JSPROF_CALLS_ALL) == -EALREADY);
    HOST_IS(lua_getallocf(L, &data) != host_alloc);
    size_t given = b->given;
    HOST_IS(luaL_loadstring(L, host_script) == 0 && lua_pcall(L, 0, 0, 0) == 0);
    given = b->given - given;
    host_find_made(&calls, &bytes);
    HOST_IS(calls == HOST_CALLS);
    if (bytes != given)
        fprintf(stderr, "%zu bytes given, %zu told\n", given, (size_t)bytes);
    HOST_IS(bytes == given);
    HOST_IS(jsprof_lua_calls(lua, L, 0) == 0);
    HOST_IS(lua_getallocf(L, &data) == host_alloc && data == b);
    HOST_IS(lua_gethook(L) == NULL);
    HOST_IS(luaL_dostring(L, host_script) == 0);
    host_find_made(&calls_after, &bytes_after);
    HOST_IS(calls_after == calls && bytes_after == bytes);
}

/* Out of memory is an error of the script's, as without us. */
static void host_starves(jsprof_lua *lua, lua_State *L, struct host_budget *b)
{
    HOST_IS(jsprof_lua_calls(lua, L, JSPROF_CALLS_ALL) == 0);
    size_t kept = b->left - 200000;
    b->left -= kept;
    HOST_IS(luaL_loadstring(L, "local t = {} for i = 1, 1e9 do t[i] = {} end") == 0);
    HOST_IS(lua_pcall(L, 0, 0, 0) == LUA_ERRMEM);
    lua_settop(L, 0);
    b->left += kept;
    HOST_IS(luaL_dostring(L, host_script) == 0);
    HOST_IS(jsprof_lua_calls(lua, L, 0) == 0);
}

/* A state on a thread of its own, closed while it is counted. */
static void *host_thread(void *unused)
{
    jsprof_thread *me;
    jsprof_lua *lua;
    struct host_budget b = { SIZE_MAX / 2, 0 };
    lua_State *L = host_state(&b);
    (void)unused;
    HOST_IS(jsprof_thread_attach(host_session, "worker", &me) == 0);
    HOST_IS(jsprof_lua_attach(host_session, me, L, &lua) == 0);
    HOST_IS(jsprof_lua_calls(lua, L, JSPROF_CALLS_ALL) == 0);
    HOST_IS(luaL_dostring(L, host_script) == 0);
    lua_close(L);
    HOST_IS(jsprof_lua_calls(lua, L, JSPROF_CALLS_ALL) == -EINVAL);
    HOST_IS(jsprof_lua_detach(lua) == 0);
    HOST_IS(jsprof_thread_detach(me) == 0);
    return NULL;
}

static void host_threads(void)
{
    pthread_t threads[HOST_THREADS];
    uint64_t before, after, bytes;
    host_find_made(&before, &bytes);
    for (int i = 0; i < HOST_THREADS; i++)
        HOST_IS(pthread_create(&threads[i], NULL, host_thread, NULL) == 0);
    for (int i = 0; i < HOST_THREADS; i++)
        pthread_join(threads[i], NULL);
    host_find_made(&after, &bytes);
    HOST_IS(after - before == HOST_THREADS * HOST_CALLS);
}

int main(int argc, char **argv)
{
    jsprof_options options = { .size = sizeof options, .path = argc > 1 ? argv[1] : NULL };
    struct host_budget b = { SIZE_MAX / 2, 0 };
    lua_State *L = host_state(&b);
    jsprof_thread *me;
    jsprof_lua *lua;
    HOST_IS(jsprof_open(&host_session, &options) == 0);
    HOST_IS(jsprof_thread_attach(host_session, "main", &me) == 0);
    HOST_IS(L && jsprof_lua_attach(host_session, me, L, &lua) == 0);
    if (host_failed)
        return 1;
    host_counts(lua, L, &b);
    host_starves(lua, L, &b);
    HOST_IS(jsprof_lua_detach(lua) == 0);
    lua_close(L);
    HOST_IS(b.left == SIZE_MAX / 2);
    host_threads();
    HOST_IS(jsprof_thread_detach(me) == 0);
    HOST_IS(jsprof_close(host_session) == 0);
    return host_failed;
}
