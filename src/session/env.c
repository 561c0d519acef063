/* session/env.c - see env.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "env.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "options.h"

static char env_folder[PATH_MAX];
static const char *env_path; /* JSPROF then: a host that sets it anew has another text */

/* NULL also in a program that was given privileges. Not by getenv() or secure_getenv():
 * SpiderMonkey exports functions of these names, which end the process when they are called
 * before its own start, as by a library that is preloaded. */
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

/* Before the program can go to another folder. Nothing is done where nobody asks. */
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
                                         "JSPROF_CHILDREN" };
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
