/* session/env.c - see options.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "explain.h"
#include "options.h"

static char env_folder[PATH_MAX];
static const char *env_path; /* its value then; a host that sets JSPROF later has another pointer */

/* This does not call getenv() or secure_getenv(): SpiderMonkey exports
 * functions of these names. They end the process if a caller, such as a preloaded library,
 * calls them before SpiderMonkey has started. */
const char *jsp_env_get(const char *name)
{
    size_t len = strlen(name);

    if (!environ || getauxval(AT_SECURE))
        return NULL;
    for (char **entry = environ; *entry; entry++)
        if (strncmp(*entry, name, len) == 0 && (*entry)[len] == '=')
            return (*entry)[len + 1] ? *entry + len + 1 : NULL;
    return NULL;
}

/* Return the name of the file or of the folder. */
static const char *env_place(void)
{
    const char *path = jsp_env_get("JSPROF");
    return path ? path : jsp_env_get("JSPROF_CONTINUOUS");
}

/* Keep the current folder before the program can change it, if that is a relative path. */
__attribute__((constructor)) static void env_remember(void)
{
    int saved_errno = errno;
    const char *path = env_path = env_place();
    if (path && *path != '/' && (!getcwd(env_folder, sizeof env_folder) || *env_folder != '/'))
        env_folder[0] = 0;
    errno = saved_errno;
}

const char *jsp_env_folder(void)
{
    return env_folder[0] && env_path == env_place() ? env_folder : NULL;
}

static const struct env_mode {
    const char *word;
    uint32_t modes;
} env_modes[] = {
    { "count", JSPROF_CALLS_COUNT }, { "time", JSPROF_CALLS_TIME },
    { "alloc", JSPROF_CALLS_ALLOC }, { "edges", JSPROF_CALLS_EDGES },
    { "all", JSPROF_CALLS_ALL },
};

/* Return the modes of a word of n bytes, or 0. */
static uint32_t env_mode(const char *word, size_t n)
{
    for (size_t i = 0; i < sizeof env_modes / sizeof *env_modes; i++)
        if (strlen(env_modes[i].word) == n && strncmp(env_modes[i].word, word, n) == 0)
            return env_modes[i].modes;
    return 0;
}

int jsp_env_calls(uint32_t *modes)
{
    const char *text = jsp_env_get("JSPROF_CALLS"), *at = text;
    uint32_t sum = 0, one = 1;
    while (at && one) {
        size_t n = strcspn(at, ",");
        sum |= one = env_mode(at, n);
        at = at[n] ? at + n + 1 : NULL;
    }
    if (!one)
        return jsp_explain(-EINVAL, "JSPROF_CALLS=%.100s: all, or some of count, time, alloc and "
                           "edges with commas between, is allowed", text);
    *modes = sum;
    return 0;
}

int jsp_env_options(jsprof_options *options)
{
    static const char *const names[] = { "JSPROF_HZ", "JSPROF_CLOCK", "JSPROF_COMPACT",
                                         "JSPROF_CHILDREN", "JSPROF_ALLOC", "JSPROF_DEPTH",
                                         "JSPROF_NO_THREAD", "JSPROF_SOURCE", "JSPROF_STALLS",
                                         "JSPROF_SCHED", "JSPROF_SEGMENT", "JSPROF_KEEP",
                                         "JSPROF_KEEP_MIB" };
    const char *control = jsp_env_get("JSPROF_CONTROL");
    int err = control ? jsp_options_set(options, "JSPROF_CONTROL", control) : 0;
    if (err)
        return err;
    options->path = jsp_env_get("JSPROF");
    options->continuous = jsp_env_get("JSPROF_CONTINUOUS");
    if (!options->path && !options->continuous && !(options->flags & JSPROF_CONTROL))
        return 0;
    options->flags |= JSPROF_NOFOLLOW;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = jsp_env_get(names[i]);
        err = text ? jsp_options_set(options, names[i], text) : 0;
        if (err)
            return err;
    }
    return 1;
}
