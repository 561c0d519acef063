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

/* Widths: of the columns of names and of times; of the table that has names, what ran
 * the most, and when. */
enum {
    CMD_THREADS_NAME = 20,
    CMD_THREADS_TIMES = 18,
    CMD_THREADS_NAMED = 56,
    CMD_THREADS_TOPPED = 72,
    CMD_THREADS_TIMED = 90,
};

static const char cmd_threads_help[] =
    "usage: jsprof threads [OPTION]... FILE\n"
    "\n"
    "The threads that were sampled, the busiest first: their share, when they were\n"
    "first and last seen, and what they ran innermost the most.\n"
    "\n"
    CLI_ROWS_HELP
    "\n"
    CLI_FILTER_HELP;

struct cmd_threads_sum {
    uint32_t thread;
    uint64_t value, samples;
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
    struct cmd_threads_sum *sums; /* owned */
    struct jsp_profile_frame *frames;
    struct cmd_threads_self *self; /* by function; owned */
    uint64_t value, samples;
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

static int cmd_threads_compare(const void *a, const void *b)
{
    const struct cmd_threads_sum *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static int cmd_threads_build(struct cmd_threads *t)
{
    struct jsp_profile *p = &t->capture.profile;
    t->sums = calloc((size_t)p->n_threads + 1, sizeof *t->sums);
    t->frames = malloc(JSP_PROFILE_DEPTH * sizeof *t->frames);
    int err = t->sums && t->frames ? 0 : -ENOMEM;
    for (uint32_t i = 0; err == 0 && i < p->n_threads; i++)
        t->sums[i].thread = i;
    for (uint32_t i = 0; err == 0 && i < p->n_stacks; i++)
        err = cmd_threads_stack(t, i);
    if (err == 0)
        err = cmd_threads_tops(t);
    if (err == 0)
        qsort(t->sums, p->n_threads, sizeof *t->sums, cmd_threads_compare);
    return err;
}

static double cmd_threads_second(const struct jsp_profile *p, int64_t time)
{
    return ((double)time - (double)p->start_time) / 1e9;
}

static bool cmd_threads_fits(const struct cli_style *s, int columns)
{
    return s->columns == 0 || s->columns >= columns;
}

/* For what ran the most; 0: no end. */
static int cmd_threads_room(const struct cli_style *s)
{
    int times = cmd_threads_fits(s, CMD_THREADS_TIMED) ? CMD_THREADS_TIMES : 0;
    return s->columns ? s->columns - CMD_THREADS_NAMED - 2 - times : 0;
}

static void cmd_threads_line(const struct cmd_threads *t, const struct cmd_threads_sum *s)
{
    const struct jsp_profile *p = &t->capture.profile;
    const struct cli_style *style = &t->capture.style;
    const struct jsp_thread_info *of = &p->threads[s->thread];
    char n[CLI_NUMBER];
    double share = t->value ? (double)s->value / (double)t->value : 0;
    printf("%8" PRId32 "%9" PRId32 "  ", of->pid, of->tid);
    if (cmd_threads_fits(style, CMD_THREADS_NAMED)) {
        int used = cli_name(style, cli_span(cli_thread_name(of)), CMD_THREADS_NAME);
        cli_repeat(" ", CMD_THREADS_NAME - used);
    }
    printf("%7s", cli_percent(n, share));
    printf("%10s", cli_value(n, p, s->value));
    if (cmd_threads_fits(style, CMD_THREADS_TIMED))
        printf("%9.2f%9.2f", cmd_threads_second(p, of->first_time),
               cmd_threads_second(p, of->last_time));
    if (cmd_threads_fits(style, CMD_THREADS_TOPPED)) {
        fputs("  ", stdout);
        cli_name(style, cli_span(p->functions[s->top].name), cmd_threads_room(style));
    }
    putchar('\n');
}

static void cmd_threads_print(const struct cmd_threads *t)
{
    const struct cli_style *s = &t->capture.style;
    const struct jsp_profile *p = &t->capture.profile;
    cli_heading(&t->capture);
    cli_colour(s, CLI_DIM);
    printf("%8s%9s  ", "PROCESS", "THREAD");
    if (cmd_threads_fits(s, CMD_THREADS_NAMED))
        printf("%-*s", CMD_THREADS_NAME, "NAME");
    printf("%7s%10s", "SHARE", cli_unit_head(p));
    if (cmd_threads_fits(s, CMD_THREADS_TIMED))
        printf("%9s%9s", "FROM s", "TO s");
    puts(cmd_threads_fits(s, CMD_THREADS_TOPPED) ? "  MOST OF IT IN" : "");
    cli_colour(s, CLI_PLAIN);
    for (uint32_t i = 0; i < p->n_threads; i++)
        if (t->sums[i].samples)
            cmd_threads_line(t, &t->sums[i]);
    cli_closing(&t->capture, t->samples, t->value);
}

/* Times of a capture may be any: the difference wraps. */
static int64_t cmd_threads_since(const struct jsp_profile *p, int64_t time)
{
    return (int64_t)((uint64_t)time - (uint64_t)p->start_time);
}

static int cmd_threads_rows(const struct cmd_threads *t)
{
    static const char *const columns[] = { "process",    "thread",  "name",
                                           "value",      "samples", "first_time",
                                           "last_time",  "cpu_ns",  "top",
                                           "top_self",   NULL };
    const struct jsp_profile *p = &t->capture.profile;
    struct cli_rows *rows = cli_rows_open(&t->wish, &t->capture, "threads", columns);
    for (uint32_t i = 0; rows && i < p->n_threads; i++) {
        const struct cmd_threads_sum *s = &t->sums[i];
        const struct jsp_thread_info *of = &p->threads[s->thread];
        if (!s->samples)
            continue;
        cli_rows_i64(rows, of->pid);
        cli_rows_i64(rows, of->tid);
        cli_rows_text(rows, cli_span(cli_thread_name(of)));
        cli_rows_u64(rows, s->value);
        cli_rows_u64(rows, s->samples);
        cli_rows_i64(rows, cmd_threads_since(p, of->first_time));
        cli_rows_i64(rows, cmd_threads_since(p, of->last_time));
        cli_rows_u64(rows, of->cpu_ns);
        cli_rows_text(rows, cli_span(p->functions[s->top].name));
        cli_rows_u64(rows, s->top_value);
    }
    return cli_rows_close(rows);
}

static int cmd_threads_show(struct cmd_threads *t)
{
    int err = cmd_threads_build(t);
    if (err < 0)
        return cli_fail(t->capture.label, "%s", strerror(-err));
    cli_native_complain(&t->capture);
    if (t->samples == 0)
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
