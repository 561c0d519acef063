/* plain_host.c - a program that embeds Lua and knows nothing of jsprof. It goes to another folder
 * first, as servers do. -DONE_BY_ONE: it opens the standard libraries one by one, as texlua does.
 *
 *     plain_host SCRIPT          the script has fork(), as of luaposix, and fork(f), which calls f
 *                                in a child of 5 seconds and returns whether that ended well
 *     plain_host SCRIPT COUNT    so many states one after the other, in the folder where it
 *                                begins; the script has the number of its own in `turn`. Print the
 *                                time of each in CPU microseconds, and by how many KiB the memory
 *                                grew since the first tenth of them
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#ifndef ONE_BY_ONE
#define open_libraries luaL_openlibs
#else
static void open_libraries(lua_State *L)
{
    static const luaL_Reg libraries[] = {
        { "", luaopen_base }, { "package", luaopen_package }, { "string", luaopen_string },
        { "table", luaopen_table }, { "math", luaopen_math }, { "io", luaopen_io },
        { "os", luaopen_os },
    };
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const char *name = libraries[i].name;
#if LUA_VERSION_NUM == 501
        lua_pushcfunction(L, libraries[i].func);
        lua_pushstring(L, name);
        lua_call(L, 1, 0);
#else
        luaL_requiref(L, *name ? name : "_G", libraries[i].func, 1);
        lua_pop(L, 1);
#endif
    }
}
#endif

static int host_fork(lua_State *L)
{
    int status;
    pid_t child = fork();
    if (!lua_isfunction(L, 1)) {
        lua_pushinteger(L, child);
        return 1;
    }
    if (child == 0) {
        alarm(5);
        lua_call(L, 0, 0);
        exit(0);
    }
    waitpid(child, &status, 0);
    lua_pushboolean(L, status == 0);
    return 1;
}

static int run(const char *script, int turn)
{
    lua_State *L = luaL_newstate();
    if (!L)
        return 1;
    open_libraries(L);
    lua_register(L, "fork", host_fork);
    lua_pushnumber(L, turn);
    lua_setglobal(L, "turn");
    int failed = luaL_dofile(L, script) != 0;
    if (failed)
        fprintf(stderr, "plain_host: %s\n", lua_tostring(L, -1));
    lua_close(L);
    return failed;
}

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
    int count = argc == 3 ? atoi(argv[2]) : 0, failed = 0;
    long before = 0;
    if (argc < 2 || argc > 3 || (argc == 2 && chdir("/") != 0))
        return 2;
    if (argc == 2)
        return run(argv[1], 0);
    for (int i = 1; i <= count && !failed; i++) {
        failed = run(argv[1], i);
        if (i == count / 10)
            before = resident_kib();
    }
    printf("%.0f us, %ld KiB\n", 1e6 * (double)clock() / CLOCKS_PER_SEC / count,
           resident_kib() - before);
    return failed;
}
