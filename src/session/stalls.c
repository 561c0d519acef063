/* session/stalls.c - see stalls.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stalls.h"

#include "session.h"

void jsp_stall_note(struct jsp_stall_list *list, uint64_t begin_ns, uint64_t end_ns)
{
    uint32_t at = list->n++ % JSP_STALLS_KEPT;
    list->at[at].begin_ns = begin_ns;
    list->at[at].end_ns = end_ns;
}

enum jsp_stall jsp_stall_of(const struct jsp_stall_list *list, uint64_t from_ns, uint64_t to_ns,
                            bool is_running)
{
    uint32_t n = list->n < JSP_STALLS_KEPT ? list->n : JSP_STALLS_KEPT;
    for (uint32_t i = 0; i < n; i++)
        if (from_ns <= list->at[i].end_ns && to_ns >= list->at[i].begin_ns)
            return JSP_STALL_KEEP;
    if (!list->open_ns || to_ns < list->open_ns)
        return JSP_STALL_DROP;
    if (list->looked_ns > list->open_ns && list->looked_ns - list->open_ns > list->limit_ns)
        return JSP_STALL_KEEP;
    return is_running ? JSP_STALL_WAIT : JSP_STALL_DROP;
}

void jsp_stall_explain(struct jsprof *p, const struct jsp_thread *t, uint64_t task)
{
    struct jsp_tasks_made made;
    for (int i = 0; i < JSP_STALLS_CHAIN && jsp_stalls_take(&p->tasks, task, &made); i++) {
        jsp_output_task(&p->output, t->tid, &made);
        task = made.rec.parent;
    }
}

/* Ask all threads. What is younger than their windows were looked at waits, and so does all while a
 * thread's were never looked at: it was inside its handler each time. */
static enum jsp_stall stall_of_all(const void *session, uint64_t from_ns, uint64_t to_ns)
{
    const struct jsprof *p = session;
    enum jsp_stall all = JSP_STALL_DROP;
    for (const struct jsp_thread *t = p->threads; t; t = t->next) {
        if (p->running && to_ns >= t->stalls.looked_ns)
            return JSP_STALL_WAIT;
        enum jsp_stall one = jsp_stall_of(&t->stalls, from_ns, to_ns, p->running);
        if (one == JSP_STALL_KEEP)
            return one;
        all = one == JSP_STALL_WAIT ? one : all;
    }
    return all;
}

void jsp_stall_marks(struct jsprof *p)
{
    const struct jsp_marks_filter filter = { stall_of_all, p };
    jsp_marks_drain(&p->marks, &p->output.writer, jsp_tasks_stall(&p->tasks) ? &filter : NULL);
}
