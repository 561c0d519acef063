/* session/env.c - see options.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "options.h"

static char env_folder[PATH_MAX];
static const char *env_path; /* its value then; a host that sets JSPROF later has another pointer */

/* Return the value of a variable, or NULL if it is unset or empty, or if the program has
 * additional privileges. This does not call getenv() or secure_getenv(): SpiderMonkey exports
 * functions of these names. They end the process if a caller, such as a preloaded library,
 * calls them before SpiderMonkey has started. */
static const char *env_get(const char *name)
{
    size_t len = strlen(name);

    if (!environ || getauxval(AT_SECURE))
        return NULL;
    for (char **entry = environ; *entry; entry++)
        if (strncmp(*entry, name, len) == 0 && (*entry)[len] == '=')
            return (*entry)[len + 1] ? *entry + len + 1 : NULL;
    return NULL;
}

/* Keep the current folder before the program can change it, if JSPROF is a relative path. */
__attribute__((constructor)) static void env_remember(void)
{
    int saved_errno = errno;
    const char *path = env_path = env_get("JSPROF");
    if (path && *path != '/' && (!getcwd(env_folder, sizeof env_folder) || *env_folder != '/'))
        env_folder[0] = 0;
    errno = saved_errno;
}

const char *jsp_env_folder(void)
{
    return env_folder[0] && env_path == env_get("JSPROF") ? env_folder : NULL;
}

int jsp_env_options(jsprof_options *options)
{
    static const char *const names[] = { "JSPROF_HZ", "JSPROF_CLOCK", "JSPROF_COMPACT",
                                         "JSPROF_CHILDREN", "JSPROF_ALLOC" };
    options->path = env_get("JSPROF");
    if (!options->path)
        return 0;
    options->flags |= JSPROF_NOFOLLOW;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = env_get(names[i]);
        int err = text ? jsp_options_set(options, names[i], text) : 0;
        if (err)
            return err;
    }
    return 1;
}
