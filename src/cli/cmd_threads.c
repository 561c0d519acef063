/* cmd_threads.c - `jsprof threads`: which thread of which process had how much.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "cli/threads.h"

/* Widths: of the columns of names, of times and of what was not seen; of the table that has
 * names, what ran the most, and when. */
enum {
    CMD_THREADS_NAME = 20,
    CMD_THREADS_TIMES = 18,
    CMD_THREADS_UNSEEN = 10,
    CMD_THREADS_NAMED = 56,
    CMD_THREADS_TOPPED = 70,
    CMD_THREADS_TIMED = 90,
};

static const char cmd_threads_help[] =
    "usage: jsprof threads [OPTION]... FILE\n"
    "\n"
    "The threads that were sampled, the busiest first: their share, when they were\n"
    "first and last seen, and what they ran innermost the most. Where nothing is\n"
    "filtered, share and time are those of the threads' clocks: UNSEEN is how much\n"
    "of that went by in no sample.\n"
    "\n"
    CLI_ROWS_HELP
    "\n"
    CLI_FILTER_HELP;

struct cmd_threads_sum {
    int32_t pid, tid;
    const char *name;
    const struct jsp_thread_info *of; /* NULL: no sample met it */
    uint64_t value, samples;
    uint64_t unseen; /* in the unit of the profile; value is without it */
    uint32_t top; /* function */
    uint64_t top_value;
};

struct cmd_threads_self { /* of the thread that had it last: none is cleared for the next */
    uint64_t value;
    uint32_t thread;
};

struct cmd_threads {
    struct cli_capture capture;
    struct cli_filter filter;
    struct cli_rows_wish wish;
    struct cmd_threads_sum *sums; /* owned; those of the profile's threads come first */
    uint32_t n_sums;
    struct jsp_profile_frame *frames;
    struct cmd_threads_self *self; /* by function; owned */
    uint64_t value, samples, unseen;
};

static int cmd_threads_stack(struct cmd_threads *t, uint32_t stack)
{
    struct jsp_profile *p = &t->capture.profile;
    const struct jsp_stack *k = &p->stacks[stack];
    if (!jsp_select_has(&t->capture.select, k))
        return 0;
    int n = jsp_select_frames(&t->capture.select, p, stack, t->frames);
    if (n <= 0)
        return n;
    t->sums[k->thread].value += k->value;
    t->sums[k->thread].samples += k->samples;
    t->value += k->value;
    t->samples += k->samples;
    return 0;
}

/* The busiest function of each thread: one look at all stacks for each function's self
 * would be quadratic in threads, so the stacks of a thread are looked at together. */
static int cmd_threads_compare_stack(const void *a, const void *b, void *stacks)
{
    const struct jsp_stack *s = stacks;
    uint32_t x = s[*(const uint32_t *)a].thread, y = s[*(const uint32_t *)b].thread;
    return (x > y) - (x < y);
}

static void cmd_threads_leaf(struct cmd_threads *t, uint32_t stack)
{
    struct jsp_profile *p = &t->capture.profile;
    struct cmd_threads_sum *sum = &t->sums[p->stacks[stack].thread];
    int n = jsp_select_has(&t->capture.select, &p->stacks[stack])
                ? jsp_select_frames(&t->capture.select, p, stack, t->frames)
                : 0;
    if (n <= 0)
        return;
    struct cmd_threads_self *self = &t->self[t->frames[0].function];
    if (self->thread != p->stacks[stack].thread)
        *self = (struct cmd_threads_self){ 0, p->stacks[stack].thread };
    self->value += p->stacks[stack].value;
    if (self->value > sum->top_value || sum->top_value == 0) {
        sum->top = t->frames[0].function;
        sum->top_value = self->value;
    }
}

static int cmd_threads_tops(struct cmd_threads *t)
{
    struct jsp_profile *p = &t->capture.profile;
    uint32_t *order = malloc((p->n_stacks + 1) * sizeof *order);
    t->self = calloc((size_t)p->n_functions + 1, sizeof *t->self);
    if (!order || !t->self) {
        free(order);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < p->n_stacks; i++)
        order[i] = i;
    qsort_r(order, p->n_stacks, sizeof *order, cmd_threads_compare_stack, p->stacks);
    for (uint32_t i = 0; i < p->n_stacks; i++)
        cmd_threads_leaf(t, order[i]);
    free(order);
    return 0;
}

static uint64_t cmd_threads_time(const struct cmd_threads_sum *s)
{
    return s->value + s->unseen;
}

static int cmd_threads_compare(const void *a, const void *b)
{
    const struct cmd_threads_sum *x = a, *y = b;
    uint64_t of_x = cmd_threads_time(x), of_y = cmd_threads_time(y);
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid)
                            : (x->tid > y->tid) - (x->tid < y->tid);
}

/* Does the account of a thread speak of what was asked for, and in the same unit? */
static bool cmd_threads_is_whole(const struct cmd_threads *t)
{
    const struct jsp_profile *p = &t->capture.profile;
    const struct cli_filter *f = &t->filter;
    bool is_own = p->unit == JSP_VALUE_COUNT || p->unit == (enum jsp_value)p->driver->clock;
    return p->period_ns && is_own && !f->time && !f->only &&
           !f->under && !f->category && !f->thread && !f->process;
}

static uint64_t cmd_threads_unseen(const struct cmd_threads *t,
                                   const struct jsp_account_thread *of)
{
    const struct jsp_profile *p = &t->capture.profile;
    uint64_t n = of ? of->unseen_of_tid : 0;
    uint64_t most = UINT64_MAX / 4 / ((uint64_t)p->n_threads + p->account.n_threads + 1);
    return n < most / p->period_ns ? n * p->period_ns : 0; /* or it is a lie */
}

/* Those that ended before a signal met them are not in the profile, but in the account. */
static void cmd_threads_account(struct cmd_threads *t)
{
    const struct jsp_profile *p = &t->capture.profile;
    for (uint32_t i = 0; i < p->n_threads; i++)
        t->sums[i].unseen = cmd_threads_unseen(t, p->threads[i].losses);
    for (uint32_t i = 0; i < p->account.n_threads; i++) {
        const struct jsp_account_thread *a = &p->account.threads[i];
        uint64_t unseen = a->is_newest && !a->in_file ? cmd_threads_unseen(t, a) : 0;
        if (unseen && !a->kept_of_tid)
            t->sums[t->n_sums++] = (struct cmd_threads_sum){
                .pid = a->pid, .tid = a->tid, .name = a->name, .unseen = unseen };
    }
    for (uint32_t i = 0; i < t->n_sums; i++)
        t->unseen += t->sums[i].unseen;
}

static int cmd_threads_build(struct cmd_threads *t)
{
    struct jsp_profile *p = &t->capture.profile;
    t->sums = calloc((size_t)p->n_threads + p->account.n_threads + 1, sizeof *t->sums);
    t->frames = malloc(JSP_PROFILE_DEPTH * sizeof *t->frames);
    int err = t->sums && t->frames ? 0 : -ENOMEM;
    t->n_sums = p->n_threads;
    for (uint32_t i = 0; err == 0 && i < p->n_threads; i++) {
        const struct jsp_thread_info *of = &p->threads[i];
        t->sums[i] = (struct cmd_threads_sum){ .pid = of->pid, .tid = of->tid,
                                               .name = cli_thread_name(of), .of = of };
    }
    for (uint32_t i = 0; err == 0 && i < p->n_stacks; i++)
        err = cmd_threads_stack(t, i);
    if (err == 0)
        err = cmd_threads_tops(t);
    if (err == 0 && cmd_threads_is_whole(t))
        cmd_threads_account(t);
    if (err == 0)
        qsort(t->sums, t->n_sums, sizeof *t->sums, cmd_threads_compare);
    return err;
}

static double cmd_threads_second(const struct jsp_profile *p, int64_t time)
{
    return ((double)time - (double)p->start_time) / 1e9;
}

static int cmd_threads_more(const struct cmd_threads *t)
{
    return t->unseen ? CMD_THREADS_UNSEEN : 0;
}

static bool cmd_threads_fits(const struct cmd_threads *t, int columns)
{
    const struct cli_style *s = &t->capture.style;
    return s->columns == 0 || s->columns >= columns + cmd_threads_more(t);
}

/* For what ran the most; 0: no end. */
static int cmd_threads_room(const struct cmd_threads *t)
{
    int times = cmd_threads_fits(t, CMD_THREADS_TIMED) ? CMD_THREADS_TIMES : 0;
    int used = CMD_THREADS_NAMED + 2 + times + cmd_threads_more(t);
    return t->capture.style.columns ? t->capture.style.columns - used : 0;
}

static void cmd_threads_seen(const struct cmd_threads *t, const struct cmd_threads_sum *s)
{
    const struct jsp_profile *p = &t->capture.profile;
    if (cmd_threads_fits(t, CMD_THREADS_TIMED))
        printf("%9.2f%9.2f", cmd_threads_second(p, s->of->first_time),
               cmd_threads_second(p, s->of->last_time));
    if (cmd_threads_fits(t, CMD_THREADS_TOPPED)) {
        fputs("  ", stdout);
        cli_name(&t->capture.style, cli_span(p->functions[s->top].name), cmd_threads_room(t));
    }
}

static void cmd_threads_line(const struct cmd_threads *t, const struct cmd_threads_sum *s)
{
    const struct jsp_profile *p = &t->capture.profile;
    const struct cli_style *style = &t->capture.style;
    char n[CLI_NUMBER];
    uint64_t all = t->value + t->unseen;
    double share = all ? (double)cmd_threads_time(s) / (double)all : 0;
    printf("%8" PRId32 "%9" PRId32 "  ", s->pid, s->tid);
    if (cmd_threads_fits(t, CMD_THREADS_NAMED)) {
        int used = cli_name(style, cli_span(s->name), CMD_THREADS_NAME);
        cli_repeat(" ", CMD_THREADS_NAME - used);
    }
    printf("%7s", cli_percent(n, share));
    printf("%10s", cli_value(n, p, cmd_threads_time(s)));
    if (t->unseen)
        printf("%10s", s->unseen ? cli_value(n, p, s->unseen) : "-");
    if (s->of)
        cmd_threads_seen(t, s);
    putchar('\n');
}

static void cmd_threads_print(const struct cmd_threads *t)
{
    const struct cli_style *s = &t->capture.style;
    const struct jsp_profile *p = &t->capture.profile;
    cli_heading(&t->capture);
    cli_colour(s, CLI_DIM);
    printf("%8s%9s  ", "PROCESS", "THREAD");
    if (cmd_threads_fits(t, CMD_THREADS_NAMED))
        printf("%-*s", CMD_THREADS_NAME, "NAME");
    printf("%7s%10s", "SHARE", cli_unit_head(p));
    if (t->unseen)
        printf("%10s", "UNSEEN");
    if (cmd_threads_fits(t, CMD_THREADS_TIMED))
        printf("%9s%9s", "FROM s", "TO s");
    puts(cmd_threads_fits(t, CMD_THREADS_TOPPED) ? "  MOST OF IT IN" : "");
    cli_colour(s, CLI_PLAIN);
    for (uint32_t i = 0; i < t->n_sums; i++)
        if (t->sums[i].samples || t->sums[i].unseen)
            cmd_threads_line(t, &t->sums[i]);
    cli_closing(&t->capture, t->samples, t->value + t->unseen);
}

/* Times of a capture may be any: the difference wraps. */
static int64_t cmd_threads_since(const struct jsp_profile *p, int64_t time)
{
    return (int64_t)((uint64_t)time - (uint64_t)p->start_time);
}

/* What only its samples say. */
static void cmd_threads_cells(const struct jsp_profile *p, const struct cmd_threads_sum *s,
                              struct cli_rows *rows)
{
    for (int i = 0; !s->of && i < 5; i++)
        cli_rows_none(rows);
    if (!s->of)
        return;
    cli_rows_i64(rows, cmd_threads_since(p, s->of->first_time));
    cli_rows_i64(rows, cmd_threads_since(p, s->of->last_time));
    cli_rows_u64(rows, s->of->cpu_ns);
    cli_rows_text(rows, cli_span(p->functions[s->top].name));
    cli_rows_u64(rows, s->top_value);
}

static int cmd_threads_rows(const struct cmd_threads *t)
{
    static const char *const columns[] = { "process",    "thread",  "name",
                                           "value",      "samples", "first_time",
                                           "last_time",  "cpu_ns",  "top",
                                           "top_self",   "unseen",  NULL };
    const struct jsp_profile *p = &t->capture.profile;
    struct cli_rows *rows = cli_rows_open(&t->wish, &t->capture, "threads", columns);
    for (uint32_t i = 0; rows && i < t->n_sums; i++) {
        const struct cmd_threads_sum *s = &t->sums[i];
        if (!s->samples && !s->unseen)
            continue;
        cli_rows_i64(rows, s->pid);
        cli_rows_i64(rows, s->tid);
        cli_rows_text(rows, cli_span(s->name));
        cli_rows_u64(rows, s->value);
        cli_rows_u64(rows, s->samples);
        cmd_threads_cells(p, s, rows);
        cli_rows_u64(rows, s->unseen);
    }
    return cli_rows_close(rows);
}

static int cmd_threads_show(struct cmd_threads *t)
{
    int err = cmd_threads_build(t);
    if (err < 0)
        return cli_fail(t->capture.label, "%s", strerror(-err));
    cli_native_complain(&t->capture);
    if (t->samples == 0 && t->unseen == 0)
        return cli_no_samples(&t->capture);
    if (cli_rows_wanted(&t->wish))
        return cmd_threads_rows(t);
    cmd_threads_print(t);
    return CLI_OK;
}

static int cmd_threads_run(struct cli_arguments *a)
{
    struct cmd_threads t = { 0 };
    const struct cli_option options[] = { CLI_ROWS_OPTIONS(&t.wish),
                                          CLI_FILTER_OPTIONS(&t.filter),
                                          { 0 } };
    if (cli_options(a, options) || cli_rows_check(a->command, &t.wish))
        return CLI_USAGE;
    const char *path = cli_one_file(a);
    int status = path ? cli_filter_open(&t.capture, path, &t.filter, a->command)
                      : CLI_USAGE;
    if (status)
        return status;
    status = cmd_threads_show(&t);
    free(t.sums);
    free(t.frames);
    free(t.self);
    cli_close(&t.capture);
    return status;
}

const struct cli_command cli_threads = {
    .name = "threads",
    .summary = "the threads: their share, their time, what they ran",
    .help = cmd_threads_help,
    .run = cmd_threads_run,
};
