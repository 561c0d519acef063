/* analyze/causes_find.c - the tasks in which a function was sampled or a mark began. See causes.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "causes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/wire.h"
#include "spans.h"
#include "walk.h"

/* Add the task that the thread ran at this moment. Return how many were added. */
static uint32_t find_at(const struct jsp_tasks *t, uint32_t thread, int64_t time, bool *asked)
{
    uint32_t run = thread == JSP_TASK_NONE ? JSP_TASK_NONE : jsp_tasks_run_at(t, thread, time);
    uint32_t task = run == JSP_TASK_NONE ? JSP_TASK_NONE : t->runs[run].task;
    bool is_new = task != JSP_TASK_NONE && !asked[task];
    if (is_new)
        asked[task] = true;
    return is_new;
}

/* Return 1 if a function of the stack has the name, 0, or -ENOMEM. */
static int find_on_stack(struct jsp_profile *p, uint32_t stack, const char *name,
                         struct jsp_profile_frame *frames)
{
    int n = jsp_profile_frames(p, stack, frames);
    for (int i = 0; i < n; i++)
        if (jsp_filter_names(&p->functions[frames[i].function], name))
            return 1;
    return n < 0 ? n : 0;
}

int jsp_causes_of_function(const struct jsp_tasks *t, struct jsp_profile *p, const char *name,
                           bool *asked, uint32_t *n)
{
    struct jsp_profile_frame *frames = malloc(JSP_PROFILE_DEPTH * sizeof *frames);
    int8_t *has = malloc((size_t)p->n_stacks + 1); /* by stack; -1: not known */
    struct jsp_walk walk;
    struct jsp_walk_item item;
    int err = frames && has ? 0 : -ENOMEM;
    *n = 0;
    if (err == 0)
        memset(has, -1, (size_t)p->n_stacks + 1);
    jsp_walk_start(&walk, p, NULL);
    while (err == 0 && jsp_walk_next(&walk, &item)) {
        const struct jsp_thread_info *in = &p->threads[item.thread];
        int is = has[item.stack] < 0 ? find_on_stack(p, item.stack, name, frames)
                                     : has[item.stack];
        err = is < 0 ? is : 0;
        has[item.stack] = (int8_t)(is > 0);
        if (is > 0)
            *n += find_at(t, jsp_tasks_thread(t, in->pid, in->tid), item.time, asked);
    }
    free(frames);
    free(has);
    return err;
}

void jsp_causes_of_mark(const struct jsp_tasks *t, const struct jsp_profile *p, const char *name,
                        bool *asked)
{
    struct jsp_read_cursor cursor;
    struct jsp_read_frame f;
    struct jsp_read_mark m;
    jsp_read_start(&cursor, p->capture, NULL);
    while (jsp_read_next(&cursor, &f))
        if (f.type == JSP_WIRE_MARK && jsp_read_mark(&cursor, &f, &m) &&
            jsp_spans_is_named(&m, name))
            for (uint32_t i = 0; i < t->n_threads; i++)
                if (t->threads[i].pid == f.pid)
                    find_at(t, i, f.time, asked);
}
