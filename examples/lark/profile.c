/* profile.c - everything that Lark and the profiler have to do with each other.
 *
 * SPDX-License-Identifier: MIT
 */
#include "profile.h"

#include "builtin.h"
#include "code.h"

#include <stdio.h>
#include <stdlib.h>

jsprof_thread *lark_profile_thread;
static jsprof *profile_session;
static const char *profile_path; /* for messages */
static jsprof_function *profile_gc;
static jsprof_function *profile_builtins[LARK_BUILTINS_MOST];

jsprof_function *lark_profile_name(const char *name, const char *path, uint32_t line)
{
    jsprof_function *f;
    return jsprof_function_new(&f, name, path, line, JSPROF_KIND_VM) < 0 ? NULL : f;
}

void lark_profile_forget(jsprof_function *function)
{
    jsprof_function_free(function);
}

const jsprof_function *lark_profile_builtin(const struct lark_builtin *builtin)
{
    jsprof_function **f = &profile_builtins[lark_builtin_index(builtin)];
    if (!*f && lark_profile_thread &&
        jsprof_function_new(f, builtin->name, NULL, 0, JSPROF_KIND_LABEL) < 0)
        *f = NULL;
    return *f;
}

void lark_profile_enter_gc(struct lark_profile_frame *frame)
{
    if (!profile_gc && lark_profile_thread &&
        jsprof_function_new(&profile_gc, "garbage collection", NULL, 0, JSPROF_KIND_GC) < 0)
        profile_gc = NULL;
    lark_profile_enter(frame, profile_gc);
}

static bool profile_failed(int err)
{
    fprintf(stderr, "lark: %s: no profile: %s\n", profile_path, jsprof_strerror(err));
    jsprof_close(profile_session);
    profile_session = NULL;
    return false;
}

static int profile_open(const struct lark_profile_options *options)
{
    jsprof_options o = {
        .size = sizeof(o), .path = options->path, .hz = options->hz, .clock = options->clock,
    };
    return jsprof_open(&profile_session, &o);
}

bool lark_profile_start(const struct lark_profile_options *options)
{
    const char *asked = getenv("JSPROF");
    profile_path = options->path ? options->path : asked ? asked : "JSPROF";
    int err = options->path ? profile_open(options) : jsprof_start_from_env(&profile_session);
    if (err < 0)
        return profile_failed(err);
    if (!profile_session)
        return true;
    err = jsprof_thread_attach(profile_session, "main", &lark_profile_thread);
    if (err >= 0)
        err = jsprof_start(profile_session);
    return err < 0 ? profile_failed(err) : true;
}

bool lark_profile_stop(void)
{
    int err = jsprof_thread_detach(lark_profile_thread);
    lark_profile_thread = NULL;
    int closed = jsprof_close(profile_session);
    profile_session = NULL;
    jsprof_function_free(profile_gc);
    for (int i = 0; i < LARK_BUILTINS_MOST; i++)
        jsprof_function_free(profile_builtins[i]);
    err = err < 0 ? err : closed;
    if (err < 0)
        fprintf(stderr, "lark: %s: the profile is not complete: %s\n", profile_path,
                jsprof_strerror(err));
    return err >= 0;
}
