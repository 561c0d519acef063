/* serve/stacks.c - `jsprof dump PID`: where each thread of a process is now.
 *
 * The process records until each attached thread has one sample, two seconds at most. Threads
 * that run get a signal; one that sleeps is read from outside, unless its stack is of a form that
 * only the thread itself can read. So the answer has the names, lines and order of any capture.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/filter.h"
#include "remote.h"

enum { STACKS_MS = 2000, STACKS_HZ = 1000 };

struct stacks {
    struct cli_capture capture;
    const struct cli_form *form;
    struct cli_table *table; /* NULL: text */
    uint32_t *last;          /* owned; by thread: its newest stack + 1, 0: none */
};

struct stacks_row {
    int32_t process, thread;
    const char *name;
    struct cli_cell state, detail, depth, function, module, line, kind;
};

/* -- Columns ----------------------------------------------------------------- */

#define STACKS_FIELD(field) .offset = offsetof(struct stacks_row, field)

static const struct cli_column stacks_columns[] = {
    { .name = "process", .type = CLI_TYPE_INTEGER, .get = cli_get_i32, STACKS_FIELD(process),
      .means = "The number of the process." },
    { .name = "thread", .type = CLI_TYPE_INTEGER, .get = cli_get_i32, STACKS_FIELD(thread),
      .means = "The number of the thread." },
    { .name = "name", .type = CLI_TYPE_TEXT, .get = cli_get_string, STACKS_FIELD(name),
      .means = "The name of the thread; empty where it has none." },
    { .name = "state", .type = CLI_TYPE_TEXT, .get = cli_get_cell, STACKS_FIELD(state),
      .may_lack = true, .means = "What the thread does; null: it gave no sample." },
    { .name = "detail", .type = CLI_TYPE_TEXT, .get = cli_get_cell, STACKS_FIELD(detail),
      .may_lack = true,
      .means = "The system call in which it sleeps, or what its host waits for." },
    { .name = "frame", .type = CLI_TYPE_COUNT, .get = cli_get_cell, STACKS_FIELD(depth),
      .may_lack = true, .means = "The number of the frame, from 0, the innermost one." },
    { .name = "function", .type = CLI_TYPE_TEXT, .get = cli_get_cell, STACKS_FIELD(function),
      .may_lack = true, .means = "The function." },
    { .name = "module", .type = CLI_TYPE_TEXT, .get = cli_get_cell, STACKS_FIELD(module),
      .may_lack = true, .means = "Of native code the file's name." },
    { .name = "line", .type = CLI_TYPE_COUNT, .get = cli_get_cell, STACKS_FIELD(line),
      .may_lack = true, .means = "The current line." },
    { .name = "kind", .type = CLI_TYPE_WORD, .get = cli_get_cell, STACKS_FIELD(kind),
      .may_lack = true, .words = cli_kinds, .means = "What ran the frame." },
    { 0 }
};

const struct cli_document serve_stacks_document = {
    .means = "The stacks of a process that runs (jsprof dump PROCESS).",
    .lists = { { .name = "rows", .means = "The frames of each thread, innermost first.",
                 .columns = stacks_columns } },
};

/* -- One thread ---------------------------------------------------------------- */

static void stacks_head(const struct stacks *d, int32_t tid, const char *name,
                        const jsprof_read_stack *stack)
{
    const struct cli_style *style = &d->capture.style;
    cli_colour(style, CLI_BOLD);
    printf("thread %d", (int)tid);
    if (*name) {
        putchar(' ');
        cli_name(style, cli_span(name), 0);
    }
    cli_colour(style, CLI_PLAIN);
    if (!stack) {
        printf(": no sample: it got no processor, blocks the signal, or sleeps where only it can "
               "read its stack\n");
        return;
    }
    printf(": %s", stack->state);
    if (*stack->detail) {
        printf(" in ");
        cli_name(style, cli_span(stack->detail), 0);
    }
    putchar('\n');
}

static void stacks_line(const struct stacks *d, uint64_t at, const jsprof_read_frame *frame)
{
    const struct cli_style *style = &d->capture.style;
    char module[CLI_PLACE];
    cli_native_module(module, &d->capture, frame->name, frame->module);
    printf("  %3u  ", (unsigned)at);
    cli_name(style, cli_span(frame->name), 0);
    if (frame->line)
        printf("  :%u", (unsigned)frame->line);
    cli_colour(style, CLI_DIM);
    fputs(module, stdout);
    cli_colour(style, CLI_PLAIN);
    putchar('\n');
}

static void stacks_row(const struct stacks *d, struct stacks_row *row, uint64_t at,
                       const jsprof_read_frame *frame)
{
    row->depth = cli_cell_u64(at);
    row->function = cli_cell_string(frame->name);
    row->module = *frame->module ? cli_cell_string(frame->module) : cli_cell_none();
    row->line = frame->line ? cli_cell_u64(frame->line) : cli_cell_none();
    row->kind = cli_cell_string(frame->kind);
    cli_table_row(d->table, row);
}

/* Return 0 or -ENOMEM. */
static int stacks_thread(const struct stacks *d, const jsprof_read_thread *t, uint32_t number)
{
    jsprof_reader *r = d->capture.reader;
    jsprof_read_stack stack = { .size = sizeof stack };
    jsprof_read_frame frame = { .size = sizeof frame };
    struct stacks_row row = { .process = t->pid, .thread = t->tid, .name = t->name };
    int64_t n = jsprof_read_stacks(r, number, &stack, 1);
    if (n < 0)
        return -ENOMEM;
    row.state = cli_cell_string(stack.state);
    row.detail = *stack.detail ? cli_cell_string(stack.detail) : cli_cell_none();
    if (!d->table)
        stacks_head(d, t->tid, t->name, &stack);
    for (uint64_t i = 0; (n = jsprof_read_frames(r, number, i, &frame, 1)) == 1; i++)
        if (d->table)
            stacks_row(d, &row, i, &frame);
        else
            stacks_line(d, i, &frame);
    return (int)n;
}

/* Name a thread without a sample. */
static void stacks_silent(const struct stacks *d, const jsprof_read_account *t)
{
    struct stacks_row row = { .process = t->pid, .thread = t->tid, .name = t->name };
    row.state = row.detail = row.depth = row.function = row.module = row.line = row.kind =
        cli_cell_none();
    if (d->table)
        cli_table_row(d->table, &row);
    else
        stacks_head(d, t->tid, t->name, NULL);
}

/* -- All threads ----------------------------------------------------------------- */

/* Find the newest stack of each thread that counts, or else any. Return 0 or -ENOMEM. */
static int stacks_find(struct stacks *d)
{
    jsprof_reader *r = d->capture.reader;
    jsprof_read_samples *samples;
    jsprof_read_sample sample = { .size = sizeof sample };
    jsprof_read_stack stack = { .size = sizeof stack };
    int64_t got;
    d->last = calloc((size_t)jsprof_read_threads(r, 0, NULL, 0) + 1, sizeof *d->last);
    if (!d->last || jsprof_read_samples_open(&samples, r, NULL) < 0)
        return -ENOMEM;
    for (uint64_t i = 0; jsprof_read_stacks(r, i, &stack, 1) == 1; i++)
        d->last[stack.thread] = (uint32_t)i + 1;
    while ((got = jsprof_read_samples_next(samples, &sample, 1)) == 1)
        d->last[sample.thread] = sample.stack + 1;
    jsprof_read_samples_close(samples);
    return (int)got;
}

static int stacks_print(struct stacks *d)
{
    jsprof_reader *r = d->capture.reader;
    jsprof_read_thread t = { .size = sizeof t };
    jsprof_read_account a = { .size = sizeof a };
    int err = stacks_find(d);
    if (!err && !cli_form_is_text(d->form))
        d->table = cli_table_open(&(struct cli_show){
            .form = d->form, .command = "dump", .columns = stacks_columns,
            .document = &serve_stacks_document });
    if (!err && !cli_form_is_text(d->form) && !d->table)
        return CLI_FAILED;
    for (uint64_t i = 0; !err && jsprof_read_threads(r, i, &t, 1) == 1; i++)
        err = d->last[i] ? stacks_thread(d, &t, d->last[i] - 1) : 0;
    for (uint64_t i = 0; !err && jsprof_read_accounts(r, i, &a, 1) == 1; i++)
        if (a.is_newest && !a.in_file)
            stacks_silent(d, &a);
    if (d->table)
        cli_table_close(d->table);
    return err ? cli_fail("dump", "%s", strerror(-err)) : CLI_OK;
}

int serve_stacks(pid_t pid, const struct cli_form *form)
{
    struct stacks d = { .form = form };
    struct cli_filter filter = { .has_idle = true };
    struct remote remote;
    struct remote_ask ask = { .command = "dump", .pid = pid, .hz = STACKS_HZ, .ms = STACKS_MS,
                              .clock = "wall", .looker = true, .once = true };
    char path[REMOTE_PATH];
    bool is_whole;
    ask.fd = remote_file("dump");
    if (ask.fd < 0)
        return CLI_FAILED;
    int status = remote_begin(&remote, &ask);
    if (status == CLI_OK)
        status = remote_wait(&remote, "dump", &is_whole);
    remote_path(path, ask.fd);
    if (status == CLI_OK)
        status = cli_filter_open(&d.capture, path, &filter, "dump");
    if (status == CLI_OK) {
        status = stacks_print(&d);
        cli_close(&d.capture);
    }
    free(d.last);
    close(ask.fd);
    return status;
}
