/* read/chains.c - chains of tasks: who made a task, and who made that one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/causes.h"

struct jsprof_read_chains {
    jsprof_reader *reader;
    struct jsp_tasks tasks;
    struct jsp_causes of;
    struct jsp_task_figures *figures; /* by tasks.whats[]; owned */
};

/* Find the chains of the tasks of that name; or if there is none, of those in which a function
 * or a mark of that name was. */
static int chains_find(jsprof_read_chains *c, const char *which,
                       const jsprof_read_alike *alike)
{
    struct jsp_profile *p = &c->reader->profile;
    const struct jsp_causes_view view = { alike->is_vm, alike->most };
    bool *asked = jsp_tasks_matching(&c->tasks, which);
    uint32_t n = 0;
    int err = asked ? 0 : -ENOMEM;
    for (uint32_t i = 0; err == 0 && i < c->tasks.n_tasks; i++)
        n += asked[i];
    if (err == 0 && !n)
        err = jsp_causes_of_function(&c->tasks, p, which, asked, &n);
    if (err == 0 && !n)
        jsp_causes_of_mark(&c->tasks, p, which, asked);
    if (err == 0)
        err = jsp_causes_build(&c->of, &c->tasks, p, &view, asked);
    free(asked);
    return err;
}

int jsprof_read_chains_open(jsprof_read_chains **out, jsprof_reader *r, const char *which,
                            const jsprof_read_alike *alike, jsprof_read_error *error)
{
    jsprof_read_alike look;
    jsp_reader_take(&look, sizeof look, alike);
    jsprof_read_chains *c = calloc(1, sizeof *c);
    int err = c ? jsp_tasks_read(&c->tasks, &r->profile) : -ENOMEM;
    if (err) {
        free(c);
        return jsp_reader_errno(error, err, NULL);
    }
    c->reader = r;
    if (!c->tasks.n_tasks) {
        err = jsp_reader_no_tasks(error);
    } else {
        c->figures = jsp_tasks_figures(&c->tasks);
        err = jsp_reader_errno(error, c->figures ? chains_find(c, which, &look) : -ENOMEM, NULL);
    }
    if (!err && !c->of.n_chains)
        err = jsp_reader_fail(error, (struct jsp_reader_fault){ .code = -ENOENT },
                              "no task and no function or mark in a task \"%s\"", which);
    if (err)
        jsprof_read_chains_close(c);
    else
        *out = c;
    return err;
}

int64_t jsprof_read_chain_rows(const jsprof_read_chains *c, uint64_t first,
                               jsprof_read_chain *out, uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(c->of.n_chains, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_causes_chain *from = &c->of.chains[first + i];
        const jsprof_read_chain row = { .tasks = from->tasks, .runs = from->runs,
                                  .total = from->total, .delay = from->delay,
                                  .n_links = from->n_links, .is_cut = from->is_cut };
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int64_t jsprof_read_links(const jsprof_read_chains *c, uint64_t chain, uint64_t first,
                          jsprof_read_link *out, uint64_t n)
{
    int64_t rows;
    if (chain >= c->of.n_chains)
        return 0;
    if (!jsp_reader_range(c->of.chains[chain].n_links, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_causes_link *from = &c->of.chains[chain].links[first + i];
        const struct jsp_task_what *what = &c->tasks.whats[from->what];
        const jsprof_read_link row = { .what = from->what, .times = from->times,
                                       .kind = jsp_reader_text(c->reader, what->kind),
                                       .name = jsp_reader_text(c->reader, what->name) };
        if (!row.kind || !row.name)
            return -ENOMEM;
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int64_t jsprof_read_ready_by(const jsprof_read_chains *c, uint64_t chain, uint64_t first,
                             jsprof_read_ready *out, uint64_t n)
{
    int64_t rows;
    if (chain >= c->of.n_chains)
        return 0;
    if (!jsp_reader_range(c->of.chains[chain].n_ready, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_causes_ready *from = &c->of.chains[chain].ready[first + i];
        const struct jsp_task_what *what = &c->tasks.whats[from->what];
        const jsprof_read_ready row = { .what = from->what, .runs = from->runs,
                                        .kind = jsp_reader_text(c->reader, what->kind),
                                        .name = jsp_reader_text(c->reader, what->name) };
        if (!row.kind || !row.name)
            return -ENOMEM;
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int64_t jsprof_read_link_frames(const jsprof_read_chains *c, uint64_t chain, uint64_t link,
                                uint64_t first, jsprof_read_frame *out, uint64_t n)
{
    if (chain >= c->of.n_chains || link >= c->of.chains[chain].n_links)
        return 0;
    return jsp_reader_task_frames(c->reader, &c->tasks, c->of.chains[chain].links[link].stack,
                                  &(struct jsp_reader_rows){ first, out, n });
}

int64_t jsprof_read_task_kinds(const jsprof_read_chains *c, uint64_t first,
                               jsprof_read_task_kind *out, uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(c->tasks.n_whats, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_task_figures *from = &c->figures[first + i];
        const struct jsp_task_what *what = &c->tasks.whats[first + i];
        const jsprof_read_task_kind row = { .kind = jsp_reader_text(c->reader, what->kind),
                                            .name = jsp_reader_text(c->reader, what->name),
                                            .tasks = from->tasks, .runs = from->runs,
                                            .total = from->total };
        if (!row.kind || !row.name)
            return -ENOMEM;
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

void jsprof_read_chains_close(jsprof_read_chains *c)
{
    if (!c)
        return;
    free(c->figures);
    jsp_causes_free(&c->of);
    jsp_tasks_free(&c->tasks);
    free(c);
}
