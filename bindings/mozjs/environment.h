/* environment.h - access to the environment that avoids SpiderMonkey's replacements.
 *
 * SPDX-License-Identifier: MIT
 *
 * libmozjs exports a getenv, putenv, setenv and unsetenv of its own, and since 140 a
 * secure_getenv. They end the process if libc is loaded before libmozjs, which happens
 * with a preloaded library. As with libc's own, no other thread may read meanwhile.
 */
#ifndef JSPROF_MOZJS_ENVIRONMENT_H
#define JSPROF_MOZJS_ENVIRONMENT_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/auxv.h>
#include <unistd.h>

/* Return the entry "variable=..." or the final nullptr. */
inline char **environment_find(const char *variable)
{
    const size_t len = strlen(variable);
    static char *none; /* after clearenv() */
    char **entry = environ ? environ : &none;

    while (*entry && (strncmp(*entry, variable, len) != 0 || (*entry)[len] != '='))
        entry++;
    return entry;
}

/* Return nullptr if it is unset, or if the program runs with raised privileges. */
inline char *environment_get(const char *variable)
{
    char *entry = getauxval(AT_SECURE) ? nullptr : *environment_find(variable);

    return entry ? entry + strlen(variable) + 1 : nullptr;
}

inline void environment_unset(const char *variable)
{
    for (char **entry = environment_find(variable); *entry; entry++)
        entry[0] = entry[1];
}

/* Give a variable that is already set another value, which must live as long as the
 * process. */
inline void environment_change(const char *variable, const char *value)
{
    char **entry = environment_find(variable);
    const size_t bytes = strlen(variable) + strlen(value) + 2;
    auto *text = static_cast<char *>(malloc(bytes));

    if (!*entry || !text) {
        free(text);
        return;
    }
    snprintf(text, bytes, "%s=%s", variable, value);
    *entry = text;
}

#endif
