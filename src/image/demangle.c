/* image/demangle.c - see demangle.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* A demangler's memory and stack grow with the name; longer names stay mangled. */
enum { DEMANGLE_LONGEST = 1024 };

extern jsp_demangle_fn __cxa_demangle __attribute__((weak));

jsp_demangle_fn *jsp_demangle_find(void)
{
    if (__cxa_demangle)
        return __cxa_demangle;
    void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    jsp_demangle_fn *call;
    memcpy(&call, &found, sizeof call);
    return call;
}

bool jsp_demangle(jsp_demangle_fn *demangle, const char *name, char *out, size_t size)
{
    bool mangled = strncmp(name, "_Z", 2) == 0 && strlen(name) <= DEMANGLE_LONGEST;
    const char *suffix = strstr(name, "@plt");
    int status = -1;
    char *copy = mangled && demangle ? strdup(name) : NULL;
    if (copy && suffix)
        copy[suffix - name] = '\0';
    char *nice = copy ? demangle(copy, NULL, NULL, &status) : NULL;
    const char *from = nice && status == 0 ? nice : name;
    size_t len = strlen(from), most = size - 1;
    bool is_long = len > most;
    len = is_long ? most : len;
    memcpy(out, from, len);
    out[len] = '\0';
    if (is_long && len >= 3)
        memcpy(out + len - 3, "...", 3);
    if (nice && suffix && size - len > strlen(suffix))
        strcpy(out + len, suffix);
    free(copy);
    free(nice);
    return nice != NULL;
}
