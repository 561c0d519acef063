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

#include "analyze/walk.h"
#include "cli/filter.h"
#include "cli/threads.h"
#include "remote.h"

enum { STACKS_MS = 2000, STACKS_HZ = 1000 };

struct stacks {
    struct cli_capture capture;
    const struct cli_form *form;
    struct cli_table *table; /* NULL: text */
    uint32_t *last;          /* owned; by thread: its newest stack + 1, 0: none */
    struct jsp_profile_frame *frames; /* owned */
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

static const char *stacks_state(const struct jsp_profile_state *s)
{
    return s->state < JSP_N_STATES ? jsp_states[s->state].key : "";
}

static void stacks_head(const struct stacks *d, int32_t tid, const char *name,
                        const struct jsp_profile_state *state)
{
    const struct cli_style *style = &d->capture.style;
    cli_colour(style, CLI_BOLD);
    printf("thread %d", (int)tid);
    if (*name) {
        putchar(' ');
        cli_name(style, cli_span(name), 0);
    }
    cli_colour(style, CLI_PLAIN);
    if (!state) {
        printf(": no sample: it got no processor, blocks the signal, or sleeps where only it can "
               "read its stack\n");
        return;
    }
    printf(": %s", stacks_state(state));
    if (state->detail.len) {
        printf(" in ");
        cli_name(style, (struct cli_span){ state->detail.at, state->detail.len }, 0);
    }
    putchar('\n');
}

static void stacks_line(const struct stacks *d, uint32_t at, const struct jsp_profile_frame *frame)
{
    const struct cli_style *style = &d->capture.style;
    const struct jsp_function *f = &d->capture.profile->functions[frame->function];
    char module[CLI_PLACE];
    cli_native_module(module, &d->capture, f->name, f->module);
    printf("  %3u  ", (unsigned)at);
    cli_name(style, cli_span(f->name), 0);
    if (frame->line)
        printf("  :%u", (unsigned)frame->line);
    cli_colour(style, CLI_DIM);
    fputs(module, stdout);
    cli_colour(style, CLI_PLAIN);
    putchar('\n');
}

static void stacks_rows(const struct stacks *d, struct stacks_row *row, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct jsp_profile_frame *frame = &d->frames[i];
        const struct jsp_function *f = &d->capture.profile->functions[frame->function];
        row->depth = cli_cell_u64(i);
        row->function = cli_cell_string(f->name);
        row->module = *f->module ? cli_cell_string(f->module) : cli_cell_none();
        row->line = frame->line ? cli_cell_u64(frame->line) : cli_cell_none();
        row->kind = cli_cell_string(jsp_kind_name(frame->kind));
        cli_table_row(d->table, row);
    }
}

static int stacks_thread(const struct stacks *d, uint32_t thread, uint32_t stack)
{
    struct jsp_profile *p = d->capture.profile;
    const struct jsp_thread_info *t = &p->threads[thread];
    const struct jsp_profile_state *state = jsp_profile_state(p, stack);
    int n = jsp_select_frames(&d->capture.select, p, stack, d->frames);
    if (n < 0)
        return n;
    if (d->table) {
        struct stacks_row row = { .process = t->pid, .thread = t->tid,
                                  .name = cli_thread_name(t) };
        row.state = cli_cell_string(stacks_state(state));
        row.detail = state->detail.len ? cli_cell_text(state->detail) : cli_cell_none();
        stacks_rows(d, &row, (uint32_t)n);
        return 0;
    }
    stacks_head(d, t->tid, cli_thread_name(t), state);
    for (int i = 0; i < n; i++)
        stacks_line(d, (uint32_t)i, &d->frames[i]);
    return 0;
}

/* Name a thread without a sample. */
static void stacks_silent(const struct stacks *d, const struct jsp_account_thread *t)
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

static int stacks_find(struct stacks *d)
{
    struct jsp_profile *p = d->capture.profile;
    struct jsp_walk walk;
    struct jsp_walk_item item;
    d->last = calloc((size_t)p->n_threads + 1, sizeof *d->last);
    d->frames = malloc(JSP_PROFILE_DEPTH * sizeof *d->frames);
    if (!d->last || !d->frames)
        return -ENOMEM;
    jsp_walk_start(&walk, p, &d->capture.select);
    while (jsp_walk_next(&walk, &item))
        d->last[item.thread] = item.stack + 1;
    return 0;
}

static int stacks_print(struct stacks *d)
{
    const struct jsp_profile *p = d->capture.profile;
    int err = stacks_find(d);
    if (!err && !cli_form_is_text(d->form))
        d->table = cli_table_open(&(struct cli_show){
            .form = d->form, .command = "dump", .columns = stacks_columns,
            .document = &serve_stacks_document });
    if (!err && !cli_form_is_text(d->form) && !d->table)
        return CLI_FAILED;
    for (uint32_t i = 0; !err && i < p->n_threads; i++)
        err = d->last[i] ? stacks_thread(d, i, d->last[i] - 1) : 0;
    for (uint32_t i = 0; !err && i < p->account.n_threads; i++)
        if (p->account.threads[i].is_newest && !p->account.threads[i].in_file)
            stacks_silent(d, &p->account.threads[i]);
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
    free(d.frames);
    close(ask.fd);
    return status;
}
