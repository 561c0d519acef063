/* again_host.c - a C program that embeds Lua with an allocator of its own, under which what
 * is freed stays as it was: a block is given to whoever next asks for one of that size, last
 * freed first, but for the sizes that are named, which nobody gets again.
 *
 *     again_host CAPTURE SCRIPT [BYTES...]
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"
#include "jsprof-lua.h"

enum { AGAIN_MOST = 1 << 16 };

/* Freed blocks by their size; the list is kept beside them. */
struct again_block {
    struct again_block *next;
    void *at;
};
static struct again_block *again_free[AGAIN_MOST];
static char again_never[AGAIN_MOST];

static void *again_take(size_t bytes)
{
    struct again_block *b = bytes < AGAIN_MOST ? again_free[bytes] : NULL;
    if (!b)
        return malloc(bytes);
    void *at = b->at;
    again_free[bytes] = b->next;
    free(b);
    return at;
}

static void again_give(void *at, size_t bytes)
{
    struct again_block *b = bytes < AGAIN_MOST ? malloc(sizeof *b) : NULL;
    if (!b || again_never[bytes]) {
        free(b);
        return;
    }
    *b = (struct again_block){ again_free[bytes], at };
    again_free[bytes] = b;
}

static void *again_alloc(void *data, void *block, size_t before, size_t after)
{
    (void)data;
    void *more = after ? again_take(after) : NULL;
    if (more && block)
        memcpy(more, block, before < after ? before : after);
    if (block && (more || !after))
        again_give(block, before);
    return more;
}

static int again_run(jsprof *prof, const char *script)
{
    jsprof_thread *me;
    jsprof_lua *lua;
    lua_State *L = compat_newstate(again_alloc, NULL);
    luaL_openlibs(L);
    if (jsprof_thread_attach(prof, "lua", &me) || jsprof_lua_attach(prof, me, L, &lua)) {
        fprintf(stderr, "again_host: not attached\n");
        return 1;
    }
    int failed = luaL_dofile(L, script);
    if (failed)
        fprintf(stderr, "again_host: %s\n", lua_tostring(L, -1));
    jsprof_lua_detach(lua);
    jsprof_thread_detach(me);
    lua_close(L);
    return failed;
}

int main(int argc, char **argv)
{
    jsprof_options options = { .size = sizeof options, .clock = JSPROF_CLOCK_WALL };
    jsprof *prof;
    for (int i = 3; i < argc; i++)
        again_never[atoi(argv[i]) & (AGAIN_MOST - 1)] = 1;
    options.path = argv[1];
    if (argc < 3 || jsprof_open(&prof, &options) || jsprof_start(prof))
        return 2;
    int failed = again_run(prof, argv[2]);
    return jsprof_close(prof) || failed;
}
