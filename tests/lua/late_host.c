/* late_host.c - a program that loads a module with Lua when it runs, as nginx does.
 *
 *     late_host MODULE... SCRIPT: run the plain_main of each (plain_host.c)
 *
 * -DSCOPE=RTLD_LOCAL: each module is a scope of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifndef SCOPE
#define SCOPE RTLD_GLOBAL
#endif

int main(int argc, char **argv)
{
    int (*run)(int, char **), failed = argc < 3;
    for (int i = 1; i < argc - 1; i++) {
        void *module = dlopen(argv[i], RTLD_NOW | SCOPE);
        void *found = module ? dlsym(module, "plain_main") : NULL;
        char *args[] = { argv[i], argv[argc - 1], NULL };
        if (!found)
            return 2;
        memcpy(&run, &found, sizeof run);
        failed |= run(2, args);
    }
    return failed;
}
