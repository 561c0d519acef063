/* turns_host.c - a program that embeds Lua and makes one state after the other, each of which
 * runs the script and is closed. The script has the number of its state in the global `turn`.
 *
 *     turns_host COUNT SCRIPT
 *
 * It prints the time of each state in CPU microseconds, and by how many KiB its memory grew
 * since the first tenth of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

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

static int turn(int number, const char *script)
{
    lua_State *L = luaL_newstate();
    if (!L)
        return 1;
    luaL_openlibs(L);
    lua_pushnumber(L, number);
    lua_setglobal(L, "turn");
    int failed = luaL_dofile(L, script);
    if (failed)
        fprintf(stderr, "turns_host: %s\n", lua_tostring(L, -1));
    lua_close(L);
    return failed;
}

int main(int argc, char **argv)
{
    int count = argc == 3 ? atoi(argv[1]) : 0, failed = count < 1;
    long before = 0;
    for (int i = 1; i <= count && !failed; i++) {
        failed = turn(i, argv[2]);
        if (i == count / 10)
            before = resident_kib();
    }
    printf("%.0f us, %ld KiB\n", 1e6 * (double)clock() / CLOCKS_PER_SEC / count,
           resident_kib() - before);
    return failed;
}
