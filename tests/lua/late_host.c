/* late_host.c - a program that loads a module with Lua when it runs, as nginx does.
 *
 *     late_host MODULE SCRIPT: run the module's plain_main (plain_host.c)
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int (*run)(int, char **);
    void *module = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    void *found = module ? dlsym(module, "plain_main") : NULL;
    if (!found)
        return 2;
    memcpy(&run, &found, sizeof run);
    return run(argc - 1, argv + 1);
}
