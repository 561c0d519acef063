/* read/demangle.c - names of C++ functions, by the machine's C++ library.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { DEMANGLE_ROOM = 4096 };

char *jsp_reader_demangle(void *reader, const char *name)
{
    static const char *const libraries[] = { "libstdc++.so.6", "libc++abi.so.1" };
    jsprof_reader *r = reader;
    char *out = malloc(DEMANGLE_ROOM);
    for (; !r->demangle && r->n_demanglers < 2; r->n_demanglers++) {
        void *library = dlopen(libraries[r->n_demanglers], RTLD_LAZY | RTLD_LOCAL);
        void *found = library ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&r->demangle, &found, sizeof found);
    }
    if (out && r->demangle && jsp_demangle(r->demangle, name, out, DEMANGLE_ROOM))
        return out;
    free(out);
    return NULL;
}
