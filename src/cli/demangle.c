/* cli/demangle.c - readable names of C++ functions, by the machine's C++ library.
 *
 * SPDX-License-Identifier: MIT
 */
#include "demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "image/demangle.h"

enum { DEMANGLE_ROOM = 4096 };

static jsp_demangle_fn *demangle_load(void)
{
    static const char *const libraries[] = { "libstdc++.so.6", "libc++abi.so.1" };
    jsp_demangle_fn *call = NULL;
    for (int i = 0; !call && i < 2; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        void *found = library ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&call, &found, sizeof call);
    }
    return call;
}

char *cli_demangle(const char *name)
{
    static jsp_demangle_fn *call;
    static bool is_loaded;
    char *out = malloc(DEMANGLE_ROOM);
    if (!is_loaded)
        call = demangle_load();
    is_loaded = true;
    if (out && call && jsp_demangle(call, name, out, DEMANGLE_ROOM))
        return out;
    free(out);
    return NULL;
}
