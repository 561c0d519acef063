/* session/env.c - see env.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "env.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/clocks.h"
#include "explain.h"

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

static int env_refuse(const char *name, const char *value, const char *allowed)
{
    return jsp_explain(-EINVAL, "%s=%.100s: %s", name, value, allowed);
}

static int env_hz(uint32_t *hz)
{
    const char *text = env_get("JSPROF_HZ");
    char *end;
    if (!text)
        return 0;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || value < 1 || value > 10000)
        return env_refuse("JSPROF_HZ", text, "a whole number from 1 to 10000 is allowed");
    *hz = (uint32_t)value;
    return 0;
}

static int env_clock(int *clock)
{
    const char *text = env_get("JSPROF_CLOCK");
    const struct jsp_clock_row *row = text ? jsp_clock_find(text) : jsp_clocks;
    if (!row)
        return jsp_explain(-EINVAL, "JSPROF_CLOCK=%.100s: %s is allowed", text, JSP_CLOCKS_KEYS);
    *clock = row->clock;
    return 0;
}

static int env_flag(const char *name, uint32_t flag, uint32_t *flags)
{
    const char *text = env_get(name);
    if (text && strcmp(text, "0") && strcmp(text, "1"))
        return env_refuse(name, text, "0 or 1 is allowed");
    if (text && *text == '1')
        *flags |= flag;
    return 0;
}

int jsp_env_options(jsprof_options *options)
{
    int saved_errno = errno; /* strtoul's is not the host's business */
    options->path = env_get("JSPROF");
    if (!options->path)
        return 0;
    options->flags |= JSPROF_NOFOLLOW;
    int err = env_hz(&options->hz);
    if (!err)
        err = env_clock(&options->clock);
    if (!err)
        err = env_flag("JSPROF_COMPACT", JSPROF_COMPACT, &options->flags);
    if (!err)
        err = env_flag("JSPROF_CHILDREN", JSPROF_CHILDREN, &options->flags);
    errno = saved_errno;
    return err ? err : 1;
}
