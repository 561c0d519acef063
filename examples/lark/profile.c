/* profile.c - every use of the profiler by Lark.
 *
 * SPDX-License-Identifier: MIT
 */
#include "profile.h"

#include "builtin.h"
#include "code.h"
#include "listing.h"
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

jsprof_thread *lark_profile_thread, *lark_profile_tasks;
static jsprof *profile_session;
static const char *profile_path; /* for messages */
static jsprof_function *profile_works[LARK_PROFILE_WORKS];
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

void lark_profile_enter_work(struct lark_profile_frame *frame,
                             enum lark_profile_work work)
{
    static const struct {
        const char *name;
        enum jsprof_kind kind;
    } names[LARK_PROFILE_WORKS] = {
        [LARK_PROFILE_GC] = { "garbage collection", JSPROF_KIND_GC },
        [LARK_PROFILE_COMPILE] = { "compilation", JSPROF_KIND_LABEL },
    };
    jsprof_function **f = &profile_works[work];
    if (!*f && lark_profile_thread &&
        jsprof_function_new(f, names[work].name, NULL, 0, names[work].kind) < 0)
        *f = NULL;
    lark_profile_enter(frame, *f);
}

/* If there is no memory for a name, the capture has an address without a name. */
void lark_profile_code_added(const struct lark_profile_code *code)
{
    if (!profile_session)
        return;
    jsprof_code c = {
        .size = sizeof(c),
        .start = code->start,
        .length = code->length,
        .function = code->function,
        .name = "[no name]",
        .lines = code->lines,
        .n_lines = code->n_lines,
        .rows = code->rows,
        .n_rows = code->n_rows,
        .pcs = code->pcs,
        .n_pcs = code->n_pcs,
    };
    jsprof_code_add(profile_session, &c);
}

void lark_profile_code_removed(const void *start)
{
    if (profile_session)
        jsprof_code_remove(profile_session, start);
}

/* Without a listing there are lines, but no operations. */
void lark_profile_listing(const struct lark *l, const struct lark_function *f)
{
    struct lark_listing listing;
    if (!profile_session || !f->profile)
        return;
    lark_listing_make(&listing, l, f);
    jsprof_listing_add(profile_session, &(jsprof_listing){ .size = sizeof(jsprof_listing),
                                                           .function = f->profile,
                                                           .rows = listing.rows,
                                                           .n_rows = f->n_ops });
    lark_listing_free(&listing);
}

jsprof_task lark_profile_task(const char *kind, const struct lark_value *callback)
{
    const jsprof_function *f = NULL;
    if (!lark_profile_tasks)
        return 0;
    if (callback->type == LARK_FUNCTION)
        f = callback->as.function->profile;
    else if (callback->type == LARK_BUILTIN)
        f = lark_profile_builtin(callback->as.builtin);
    return jsprof_task_new_of(lark_profile_tasks, kind, f, 0);
}

static bool profile_failed(int err)
{
    char why[300];
    fprintf(stderr, "lark: no profile: %s\n", jsprof_error_text(err, why, sizeof(why)));
    jsprof_close(profile_session);
    profile_session = NULL;
    return false;
}

/* For gdb's `jsprof break FUNCTION`: what begins each call, and which argument has the function. */
static const jsprof_debug_fact profile_facts[] = {
    { "enter", (const void *)lark_run_function },
    { "enter.argument", (const void *)1 },
    { "enter.function", (const void *)offsetof(struct lark_function, profile) },
};
JSPROF_DEBUG_SECTION const jsprof_debug_table lark_debug =
    JSPROF_DEBUG_TABLE("lark", profile_facts);

/* The linker names both ends of a section whose name is a name in C. */
extern const char __start_lark_loop[], __stop_lark_loop[];

/* This only makes views shorter: without it they also show the code that runs the
 * program. */
static void profile_mark_loop(void)
{
    size_t length = (size_t)(__stop_lark_loop - __start_lark_loop);
    jsprof_interpreter_add(profile_session, __start_lark_loop, length);
}

/* Another session writes that file: report where this profile is. */
static void profile_tell_path(void)
{
    bool is_other;
    const char *path = jsprof_path(profile_session, &is_other);
    if (is_other)
        fprintf(stderr, "lark: %s: in use, the profile goes to %s\n", profile_path, path);
}

/* Does the environment ask for tasks, which stall mode needs? */
static bool profile_env_has_tasks(void)
{
    const char *tasks = getenv("JSPROF_TASKS"), *stalls = getenv("JSPROF_STALLS");
    return (tasks && strcmp(tasks, "1") == 0) || (stalls && *stalls);
}

bool lark_profile_start(const struct lark_profile_options *options)
{
    const char *asked = getenv("JSPROF");
    const char *path = options->open.path;
    profile_path = path ? path : asked ? asked : "JSPROF";
    bool is_asked = path || options->open.flags & JSPROF_CONTROL;
    int err = is_asked ? jsprof_open(&profile_session, &options->open)
                       : jsprof_start_from_env(&profile_session);
    if (err < 0)
        return profile_failed(err);
    if (!profile_session)
        return true;
    profile_tell_path();
    profile_mark_loop();
    jsprof_vm_set(profile_session, options->open.vm);
    err = jsprof_thread_attach(profile_session, "main", &lark_profile_thread);
    bool has_tasks = options->tasks || options->open.stalls ||
                     (!is_asked && profile_env_has_tasks());
    lark_profile_tasks = has_tasks ? lark_profile_thread : NULL;
    if (err >= 0 && options->calls)
        err = jsprof_calls_set(profile_session, options->calls);
    if (err >= 0)
        err = jsprof_start(profile_session);
    return err < 0 ? profile_failed(err) : true;
}

bool lark_profile_stop(void)
{
    int err = jsprof_thread_detach(lark_profile_thread);
    lark_profile_thread = lark_profile_tasks = NULL;
    int closed = jsprof_close(profile_session);
    profile_session = NULL;
    for (int i = 0; i < LARK_PROFILE_WORKS; i++)
        jsprof_function_free(profile_works[i]);
    for (int i = 0; i < LARK_BUILTINS_MOST; i++)
        jsprof_function_free(profile_builtins[i]);
    err = err < 0 ? err : closed;
    if (err < 0)
        fprintf(stderr, "lark: %s: the profile is not complete: %s\n", profile_path,
                jsprof_strerror(err));
    return err >= 0;
}
