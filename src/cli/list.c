/* list.c - `jsprof list`: the marks and counters of a capture.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "cli/threads.h"

enum { LIST_NAME = 24, LIST_COUNT = 7, LIST_FIGURE = 8, LIST_FIGURES = 6 };

static const char list_help[] =
    "usage: jsprof list [OPTION]... FILE\n"
    "\n"
    "Marks by group and name: how often, how long in all, and the least, mean,\n"
    "median, 95th percentile and most of that; counters: the same of their values.\n"
    "\n"
    "  --each           every mark by itself, in the order of the file\n"
    CLI_ROWS_HELP
    "\n"
    CLI_FILTER_HELP
    "\n"
    "Marks belong to a process: of these, --process and --time count for them.\n";

struct list_group { /* marks of one group and name, or the values of one counter */
    struct jsp_read_text group, name;
    struct jsp_events_sum sum;
    const char *kind; /* "mark", "counter" */
    uint32_t first;   /* in order[] */
};

struct list {
    struct cli_capture capture;
    struct cli_filter filter;
    struct cli_rows_wish wish;
    struct jsp_events events;
    struct list_group *groups; /* owned */
    uint32_t n_groups, groups_room;
    int32_t *pids; /* owned; NULL: all */
    bool is_each;
};

static int list_text_compare(struct jsp_read_text a, struct jsp_read_text b)
{
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int list_mark_compare(const void *a, const void *b)
{
    const struct jsp_event_mark *x = *(const struct jsp_event_mark *const *)a;
    const struct jsp_event_mark *y = *(const struct jsp_event_mark *const *)b;
    int order = list_text_compare(x->group, y->group);
    return order ? order : list_text_compare(x->name, y->name);
}

static int list_group(struct list *l, struct list_group g, double *values, uint32_t n)
{
    if (jsp_grow(&l->groups, &l->groups_room, l->n_groups, sizeof *l->groups) < 0)
        return -ENOMEM;
    g.sum = jsp_events_sum(values, n);
    l->groups[l->n_groups++] = g;
    return 0;
}

/* Runs of equal group and name in the sorted marks. */
static int list_runs(struct list *l, const struct jsp_event_mark **order, double *values)
{
    uint32_t n = l->events.n_marks;
    int err = 0;
    for (uint32_t at = 0, run; err == 0 && at < n; at += run) {
        for (run = 0; at + run < n; run++) {
            if (run && list_mark_compare(&order[at], &order[at + run]) != 0)
                break;
            values[run] = (double)order[at + run]->duration;
        }
        struct list_group g = { .group = order[at]->group,
                                .name = order[at]->name,
                                .kind = "mark" };
        err = list_group(l, g, values, run);
    }
    return err;
}

static int list_marks(struct list *l, double *values)
{
    uint32_t n = l->events.n_marks;
    const struct jsp_event_mark **order = malloc((n + 1) * sizeof *order);
    if (!order)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        order[i] = &l->events.marks[i];
    qsort(order, n, sizeof *order, list_mark_compare);
    int err = list_runs(l, order, values);
    free(order);
    return err;
}

static int list_value_compare(const void *a, const void *b)
{
    const struct jsp_event_value *x = a, *y = b;
    if (x->counter != y->counter)
        return x->counter < y->counter ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

static int list_counters(struct list *l, double *values)
{
    struct jsp_events *e = &l->events;
    int err = 0;
    qsort(e->values, e->n_values, sizeof *e->values, list_value_compare);
    for (uint32_t at = 0, run; err == 0 && at < e->n_values; at += run) {
        const struct jsp_event_counter *c = &e->counters[e->values[at].counter];
        for (run = 0; at + run < e->n_values; run++) {
            if (e->values[at + run].counter != e->values[at].counter)
                break;
            values[run] = e->values[at + run].value;
        }
        struct list_group g = { .group = c->group, .name = c->name, .kind = "counter" };
        err = list_group(l, g, values, run);
    }
    return err;
}

/* Processes that have a chosen thread. */
static int list_pids(struct list *l, struct jsp_events_of *of)
{
    const struct jsp_profile *p = &l->capture.profile;
    if (!l->capture.threads)
        return 0;
    l->pids = malloc((p->n_threads + 1) * sizeof *l->pids);
    if (!l->pids)
        return -ENOMEM;
    for (uint32_t i = 0; i < p->n_threads; i++)
        if (l->capture.threads[i])
            l->pids[of->n++] = p->threads[i].pid;
    of->pids = l->pids;
    return 0;
}

static int list_build(struct list *l)
{
    struct jsp_events_of of = { 0 };
    int err = list_pids(l, &of);
    if (err == 0)
        err = jsp_events_read(&l->events, &l->capture.profile, of);
    if (err < 0 || l->is_each)
        return err;
    uint32_t most = l->events.n_marks > l->events.n_values ? l->events.n_marks
                                                           : l->events.n_values;
    double *values = malloc(((size_t)most + 1) * sizeof *values);
    err = values ? list_marks(l, values) : -ENOMEM;
    if (err == 0)
        err = list_counters(l, values);
    free(values);
    return err;
}

static struct cli_span list_span(struct jsp_read_text t)
{
    return (struct cli_span){ t.at, t.len };
}

/* A duration, or a plain number in few digits. */
static const char *list_figure(char out[CLI_NUMBER], const struct list_group *g, double v)
{
    if (*g->kind == 'm')
        return cli_duration(out, v > 0 ? (uint64_t)v : 0);
    bool is_whole = v == (double)(int64_t)v && v < 1e15 && v > -1e15;
    if (is_whole && v >= 0)
        return cli_count(out, (uint64_t)v);
    snprintf(out, CLI_NUMBER, is_whole ? "%.0f" : "%.4g", v);
    return out;
}

/* The last figures are the first to be shown where there is little room. */
static int list_first(const struct list *l)
{
    int columns = l->capture.style.columns;
    int fit = (columns - LIST_NAME - LIST_COUNT) / (LIST_FIGURE + 1);
    return columns == 0 || fit > LIST_FIGURES ? 0 : fit < 1 ? LIST_FIGURES - 1
                                                           : LIST_FIGURES - fit;
}

static void list_line(const struct list *l, const struct list_group *g)
{
    const struct cli_style *s = &l->capture.style;
    const struct jsp_events_sum *sum = &g->sum;
    bool is_mark = *g->kind == 'm';
    const double figures[LIST_FIGURES] = { is_mark ? sum->total : sum->last,
                                           sum->min,    sum->mean, sum->median,
                                           sum->p95,    sum->max };
    char n[CLI_NUMBER];
    int used = cli_name(s, list_span(g->group), LIST_NAME / 2);
    fputs(" / ", stdout);
    used += 3 + cli_name(s, list_span(g->name), LIST_NAME - used - 3);
    cli_repeat(" ", LIST_NAME - used);
    printf("%*s", LIST_COUNT, cli_count(n, sum->n));
    for (int i = list_first(l); i < LIST_FIGURES; i++)
        printf(" %*s", LIST_FIGURE, list_figure(n, g, figures[i]));
    putchar('\n');
}

static void list_head(const struct list *l, const char *kind)
{
    bool is_mark = *kind == 'm';
    const char *const heads[LIST_FIGURES] = { is_mark ? "TOTAL" : "LAST",
                                              "LEAST",  "MEAN", "MEDIAN",
                                              "95%",    "MOST" };
    cli_colour(&l->capture.style, CLI_DIM);
    printf("%-*s%*s", LIST_NAME, is_mark ? "MARK" : "COUNTER", LIST_COUNT,
           is_mark ? "TIMES" : "VALUES");
    for (int i = list_first(l); i < LIST_FIGURES; i++)
        printf(" %*s", LIST_FIGURE, heads[i]);
    cli_colour(&l->capture.style, CLI_PLAIN);
    putchar('\n');
}

static void list_table(const struct list *l, const char *kind)
{
    bool is_begun = false;
    for (uint32_t i = 0; i < l->n_groups; i++) {
        if (strcmp(l->groups[i].kind, kind) != 0)
            continue;
        if (!is_begun)
            list_head(l, kind);
        is_begun = true;
        list_line(l, &l->groups[i]);
    }
}

static double list_second(const struct list *l, int64_t time)
{
    return ((double)time - (double)l->capture.profile.start_time) / 1e9;
}

static void list_each(const struct list *l)
{
    const struct cli_style *s = &l->capture.style;
    char n[CLI_NUMBER];
    cli_colour(s, CLI_DIM);
    printf("%11s%10s%9s  %s\n", "FROM s", "LENGTH", "PROCESS", "MARK");
    cli_colour(s, CLI_PLAIN);
    for (uint32_t i = 0; i < l->events.n_marks && !ferror(stdout); i++) {
        const struct jsp_event_mark *m = &l->events.marks[i];
        printf("%11.6f%10s%9" PRId32 "  ", list_second(l, m->time),
               cli_duration(n, (uint64_t)m->duration), m->pid);
        int room = s->columns ? s->columns - 32 : 0;
        int used = cli_name(s, list_span(m->group), room ? room / 3 : 0);
        fputs(" / ", stdout);
        used += 3 + cli_name(s, list_span(m->name), room ? (room - used) / 2 : 0);
        fputs("  ", stdout);
        if (!room || room - used - 2 > 0)
            cli_name(s, list_span(m->message), room ? room - used - 2 : 0);
        putchar('\n');
    }
}

static int list_rows_each(const struct list *l)
{
    static const char *const columns[] = { "time",  "duration", "process", "group",
                                           "name",  "message",  NULL };
    struct cli_rows *rows = cli_rows_open(&l->wish, &l->capture, "list", columns);
    for (uint32_t i = 0; rows && i < l->events.n_marks; i++) {
        const struct jsp_event_mark *m = &l->events.marks[i];
        cli_rows_i64(rows,
                     (int64_t)((uint64_t)m->time -
                               (uint64_t)l->capture.profile.start_time));
        cli_rows_i64(rows, m->duration);
        cli_rows_i64(rows, m->pid);
        cli_rows_text(rows, list_span(m->group));
        cli_rows_text(rows, list_span(m->name));
        cli_rows_text(rows, list_span(m->message));
    }
    return cli_rows_close(rows);
}

static int list_rows(const struct list *l)
{
    static const char *const columns[] = { "kind",  "group", "name", "count", "total",
                                           "min",   "mean",  "median", "p95", "max",
                                           "last",  NULL };
    if (l->is_each)
        return list_rows_each(l);
    struct cli_rows *rows = cli_rows_open(&l->wish, &l->capture, "list", columns);
    for (uint32_t i = 0; rows && i < l->n_groups; i++) {
        const struct list_group *g = &l->groups[i];
        const double figures[] = { g->sum.total,  g->sum.min, g->sum.mean,
                                   g->sum.median, g->sum.p95, g->sum.max,
                                   g->sum.last };
        cli_rows_word(rows, g->kind);
        cli_rows_text(rows, list_span(g->group));
        cli_rows_text(rows, list_span(g->name));
        cli_rows_u64(rows, g->sum.n);
        for (int j = 0; j < 7; j++)
            cli_rows_real(rows, figures[j]);
    }
    return cli_rows_close(rows);
}

static int list_show(struct list *l)
{
    int err = list_build(l);
    if (err < 0)
        return cli_fail(l->capture.label, "%s", strerror(-err));
    if (l->events.undefined)
        cli_fail(l->capture.label, "%" PRIu64 " values of counters that nothing defines, "
                                   "left out", l->events.undefined);
    if (cli_rows_wanted(&l->wish))
        return list_rows(l);
    if (l->events.n_marks == 0 && l->events.n_values == 0) {
        puts("No marks and no counters.");
        return CLI_OK;
    }
    if (l->is_each) {
        list_each(l);
        return CLI_OK;
    }
    list_table(l, "mark");
    list_table(l, "counter");
    return CLI_OK;
}

static int list_run(struct cli_arguments *a)
{
    struct list l = { 0 };
    const struct cli_option options[] = { { "each", &l.is_each, NULL, NULL },
                                          CLI_ROWS_OPTIONS(&l.wish),
                                          CLI_FILTER_OPTIONS(&l.filter),
                                          { 0 } };
    if (cli_options(a, options) || cli_rows_check(a->command, &l.wish))
        return CLI_USAGE;
    const char *path = cli_one_file(a);
    int status = path ? cli_filter_open(&l.capture, path, &l.filter, a->command)
                      : CLI_USAGE;
    if (status)
        return status;
    status = list_show(&l);
    jsp_events_free(&l.events);
    free(l.groups);
    free(l.pids);
    cli_close(&l.capture);
    return status;
}

const struct cli_command cli_list = {
    .name = "list",
    .summary = "marks and counters, with their spread",
    .help = list_help,
    .run = list_run,
};
