/* read/stalls.c - turns of loops that took too long.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stalls.h"

enum { STALLS_OVER_NS = 16000000 };

struct jsprof_read_stalls {
    jsprof_reader *reader;
    struct jsp_tasks tasks;
    struct jsp_stalls_found of;
    int64_t over;
};

/* Read a time such as 50ms. */
static bool stalls_time(const char *word, int64_t *out)
{
    char span[64];
    uint64_t from = 0, to;
    int n = snprintf(span, sizeof span, "%s..", word);
    if (n < 0 || (size_t)n >= sizeof span || strstr(word, "..") ||
        !jsp_reader_time(span, &from, &to) || from == 0 || from > INT64_MAX)
        return false;
    *out = (int64_t)from;
    return true;
}

int jsprof_read_stalls_open(jsprof_read_stalls **out, jsprof_reader *r, const char *over,
                            jsprof_read_error *error)
{
    const uint64_t kept = r->profile.stall_ns;
    int64_t wanted = kept ? (int64_t)kept : STALLS_OVER_NS;
    if (over && !stalls_time(over, &wanted))
        return jsp_reader_fail(error,
                               (struct jsp_reader_fault){ .code = -EINVAL, .option = "over" },
                               "over wants a time as in 50ms, not \"%s\"", over);
    jsprof_read_stalls *s = calloc(1, sizeof *s);
    int err = s ? jsp_tasks_read(&s->tasks, &r->profile) : -ENOMEM;
    if (err) {
        free(s);
        return jsp_reader_errno(error, err, NULL);
    }
    s->reader = r;
    s->over = wanted;
    const struct jsp_stalls_ask ask = { &r->choice.select, s->over };
    if (!s->tasks.n_turns && !s->tasks.n_runs && !kept)
        err = jsp_reader_no_tasks(error);
    else
        err = jsp_reader_errno(error, jsp_stalls_find(&s->of, &s->tasks, &r->profile, &ask),
                               NULL);
    if (err)
        jsprof_read_stalls_close(s);
    else
        *out = s;
    return err;
}

int jsprof_read_stalls_of(const jsprof_read_stalls *s, jsprof_read_stalls_sum *out)
{
    const jsprof_read_stalls_sum row = {
        .turns = s->of.turns, .stalls = s->of.n_stalls, .groups = s->of.n_groups,
        .over = s->over, .longest = s->of.longest, .is_of_runs = s->of.is_of_runs,
        .kept = (int64_t)s->reader->profile.stall_ns,
    };
    jsp_reader_give(out, 0, &row, sizeof row);
    return 0;
}

/* Describe the worst of some stalls; the caller adds what is of all of them. Return 0 or
 * -ENOMEM. */
static int stalls_worst(const jsprof_read_stalls *s, uint32_t at, jsprof_read_stall *out)
{
    const struct jsp_profile *p = &s->reader->profile;
    const struct jsp_stall *from = &s->of.stalls[at];
    const struct jsp_task_thread *thread = &s->tasks.threads[from->thread];
    *out = (jsprof_read_stall){
        .time = from->begin - p->start_time, .duration = from->duration, .pid = thread->pid,
        .tid = thread->tid, .cause = jsp_stall_causes[from->cause], .stack = from->stack,
        .is_open = from->is_open,
    };
    if (from->function != UINT32_MAX)
        out->function = p->functions[from->function].name;
    if (from->what != JSP_TASK_NONE) {
        out->kind = jsp_reader_text(s->reader, s->tasks.whats[from->what].kind);
        out->name = jsp_reader_text(s->reader, s->tasks.whats[from->what].name);
        if (!out->kind || !out->name)
            return -ENOMEM;
    }
    if (from->cause != JSP_STALL_BLOCKING || from->stack == UINT32_MAX)
        return 0;
    struct jsp_read_text detail = jsp_profile_state(p, from->stack)->detail;
    out->call = detail.len ? jsp_reader_text(s->reader, detail) : NULL;
    return out->call || !detail.len ? 0 : -ENOMEM;
}

static void stalls_give(jsprof_read_stall *row, const int64_t parts[JSP_STALL_CAUSES],
                        jsprof_read_stall *out, uint64_t i)
{
    row->in_function = parts[JSP_STALL_FUNCTION];
    row->in_collection = parts[JSP_STALL_COLLECTION];
    row->in_blocking = parts[JSP_STALL_BLOCKING];
    row->in_processor = parts[JSP_STALL_PROCESSOR];
    row->in_unknown = parts[JSP_STALL_UNKNOWN];
    jsp_reader_give(out, i, row, sizeof *row);
}

int64_t jsprof_read_stall_rows(const jsprof_read_stalls *s, uint64_t first,
                               jsprof_read_stall *out, uint64_t n)
{
    jsprof_read_stall row;
    int64_t rows;
    if (!jsp_reader_range(s->of.n_stalls, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        if (stalls_worst(s, (uint32_t)(first + i), &row) < 0)
            return -ENOMEM;
        row.n = 1;
        row.total = row.duration;
        stalls_give(&row, s->of.stalls[first + i].parts, out, i);
    }
    return rows;
}

int64_t jsprof_read_stall_groups(const jsprof_read_stalls *s, uint64_t first,
                                 jsprof_read_stall *out, uint64_t n)
{
    jsprof_read_stall row;
    int64_t rows;
    if (!jsp_reader_range(s->of.n_groups, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_stall_group *group = &s->of.groups[first + i];
        if (stalls_worst(s, group->worst, &row) < 0)
            return -ENOMEM;
        row.n = group->n;
        row.total = group->total;
        stalls_give(&row, group->parts, out, i);
    }
    return rows;
}

void jsprof_read_stalls_close(jsprof_read_stalls *s)
{
    if (!s)
        return;
    jsp_stalls_free(&s->of);
    jsp_tasks_free(&s->tasks);
    free(s);
}
