/* serve/interpreter.c - see interpreter.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "interpreter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INTERPRETER_TEXT = 8192 };

static const char interpreter_requires[] = "pcall(require,'jsprof') ";

const char *interpreter_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool interpreter_is_lua(const char *name, char version[INTERPRETER_VERSION])
{
    if (strncmp(name, "luajit", 6) == 0)
        return strcpy(version, "jit");
    if (strncmp(name, "lua", 3) != 0 || name[3] < '5' || name[3] > '9')
        return false;
    const char *minor = name[4] == '.' ? name + 5 : name + 4;
    if (*minor < '0' || *minor > '9' || minor[1])
        return false;
    snprintf(version, INTERPRETER_VERSION, "%c.%c", name[3], *minor);
    return true;
}

/* Store the variable that the interpreter reads: since 5.2 one with the version in its name goes
 * before the other. */
static void interpreter_variable(char to[32], const char *name, const char *version)
{
    snprintf(to, 32, "%s_%c_%c", name, version[0], version[2]);
    if (strcmp(version, "jit") == 0 || strcmp(version, "5.1") == 0 || !getenv(to))
        snprintf(to, 32, "%s", name);
}

void interpreter_lua(const char *version, const char *module)
{
    char text[INTERPRETER_TEXT], name[32];
    if (module) {
        interpreter_variable(name, "LUA_CPATH", version);
        const char *before = getenv(name);
        int n = snprintf(text, sizeof text, "%.*s?.so;",
                         (int)(interpreter_base(module) - module), module);
        if (!before || strncmp(before, text, (size_t)n) != 0) {
            snprintf(text + n, sizeof text - (size_t)n, "%s", before ? before : ";");
            setenv(name, text, 1);
        }
    }
    interpreter_variable(name, "LUA_INIT", version);
    const char *init = getenv(name);
    if (init && strncmp(init, interpreter_requires, sizeof interpreter_requires - 1) == 0)
        return;
    bool is_file = init && *init == '@';
    snprintf(text, sizeof text, "%s%s%s%s", interpreter_requires, is_file ? "dofile[==[" : "",
             init ? init + is_file : "", is_file ? "]==]" : "");
    setenv(name, text, 1);
}
