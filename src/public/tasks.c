/* public/tasks.c - the public functions of tasks and turns.
 *
 * SPDX-License-Identifier: MIT
 */
#include "public.h"

/* Return the thread's tasks, or NULL if `t` is NULL, another thread's, or freed memory. */
static struct jsp_tasks *public_tasks(jsprof_thread *t)
{
    struct jsp_thread *thread = public_thread(t);
    return t && jsp_sampled_is_linked(&thread->sampled) ? &thread->tasks : NULL;
}

static inline __attribute__((always_inline)) jsprof_task
public_task_new(jsprof_thread *t, struct jsp_tasks_what what, uint32_t flags)
{
    struct jsp_tasks *k = public_tasks(t);
    if (!k)
        return 0;
    int saved_errno = errno;
    what.has_stack = !(flags & JSPROF_TASK_NO_STACK);
    if (what.has_stack)
        jsp_regs_store(&k->asked);
    jsprof_task task = jsp_tasks_new(k, &what);
    errno = saved_errno;
    return task;
}

/* Both in functions of their own, because their registers are where the walk begins. */
__attribute__((noinline)) jsprof_task jsprof_task_new(jsprof_thread *t, const char *kind,
                                                      const char *name, uint32_t flags)
{
    return public_task_new(t, (struct jsp_tasks_what){ .kind = kind, .name = name }, flags);
}

__attribute__((noinline)) jsprof_task jsprof_task_new_of(jsprof_thread *t, const char *kind,
                                                         const jsprof_function *f,
                                                         uint32_t flags)
{
    return public_task_new(t, (struct jsp_tasks_what){ .kind = kind, .function = f }, flags);
}

void jsprof_task_begin(jsprof_thread *t, jsprof_task task)
{
    struct jsp_tasks *k = public_tasks(t);
    int saved_errno = errno;
    if (k)
        jsp_tasks_begin(k, task);
    errno = saved_errno;
}

void jsprof_task_end(jsprof_thread *t, jsprof_task task)
{
    struct jsp_tasks *k = public_tasks(t);
    int saved_errno = errno;
    if (k)
        jsp_tasks_end(k, task);
    errno = saved_errno;
}

void jsprof_task_ready(jsprof_thread *t, jsprof_task task)
{
    struct jsp_tasks *k = public_tasks(t);
    int saved_errno = errno;
    if (k)
        jsp_tasks_ready(k, task);
    errno = saved_errno;
}

void jsprof_task_due(jsprof_thread *t, jsprof_task task, int64_t in_ns)
{
    struct jsp_tasks *k = public_tasks(t);
    int saved_errno = errno;
    if (k)
        jsp_tasks_due(k, task, in_ns);
    errno = saved_errno;
}

void jsprof_task_done(jsprof_thread *t, jsprof_task task)
{
    struct jsp_tasks *k = public_tasks(t);
    int saved_errno = errno;
    if (k)
        jsp_tasks_done(k, task);
    errno = saved_errno;
}

jsprof_task jsprof_task_running(jsprof_thread *t)
{
    const struct jsp_tasks *k = public_tasks(t);
    return k ? jsp_tasks_now(k) : 0;
}

void jsprof_turn_begin(jsprof_thread *t)
{
    struct jsp_tasks *k = public_tasks(t);
    int saved_errno = errno;
    if (k)
        jsp_tasks_turn_begin(k);
    errno = saved_errno;
}

void jsprof_turn_end(jsprof_thread *t)
{
    struct jsp_tasks *k = public_tasks(t);
    int saved_errno = errno;
    if (k)
        jsp_tasks_turn_end(k);
    errno = saved_errno;
}
