/* cli/info.c - `jsprof info`: what was recorded, at which rate, and what was lost.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "info.h"

enum { INFO_MOST = 64 }; /* threads without an account that text lists */

static const char info_help[] =
    "usage: jsprof info FILE...\n"
    "\n"
    "Describes a capture: program, time, clock and rate, threads, and all losses.\n"
    "\n"
    CLI_FORM_FOLLOW_HELP
    "\n"
    "Every timer expiration is either kept in a sample or counted under the cause of\n"
    "its loss:  expirations = kept + ring + paused + late + unwritten + stack +\n"
    "blocked + undelivered. The command checks this against the samples of the file.\n"
    "If they differ, it reports the difference and exits with status 1.\n";

/* -- Columns ---------------------------------------------------------------- */

/* A thread of our own recordings has an account, a thread of others only its samples. */
struct info_row {
    const struct cli_capture *capture;
    const struct cli_accounts *accounts;
    const char *file, *recorder, *clock, *state, *form, *name;
    uint64_t samples, stacks, thread_samples;
    uint32_t hz;
    int32_t process, thread;
    const struct cli_account *account; /* NULL: none */
    /* Without a thread's account the first two are none; without any account, all. */
    uint64_t by_state[JSP_N_STATES];
    bool has_states;
    struct cli_cell marks_lost, adds_up, all_expirations, all_kept, complete;
    const jsprof_read_tasks_sum *tasks; /* NULL: none */
};

static struct cli_cell info_no_proc(CLI_OF_ROW)
{
    return ((const struct info_row *)row)->capture->info.lacks_proc ? cli_cell_string(CLI_NO_PROC)
                                                                    : cli_cell_none();
}

/* A text of the info at c->offset. */
static struct cli_cell info_said(CLI_OF_ROW)
{
    struct cli_cell cell = cli_get_string(c, of, &((const struct info_row *)row)->capture->info);
    return cell.text.len ? cell : cli_cell_none();
}

/* A count of the thread's account, at c->offset. */
static struct cli_cell info_account(CLI_OF_ROW)
{
    const struct info_row *r = row;
    return r->account ? cli_get_u64(c, of, r->account) : cli_cell_none();
}

/* The weight of the thread's samples in the state of the column, which is c->offset. */
static struct cli_cell info_state(CLI_OF_ROW)
{
    const struct info_row *r = row;
    return r->has_states ? cli_cell_u64(r->by_state[c->offset]) : cli_cell_none();
}

/* A count of the capture's tasks, at c->offset. */
static struct cli_cell info_task_count(CLI_OF_ROW)
{
    const struct info_row *r = row;
    return r->tasks ? cli_get_u64(c, of, r->tasks) : cli_cell_none();
}

static struct cli_cell info_lost(CLI_OF_ROW)
{
    return cli_cell_u64(((const struct info_row *)row)->account->is.lost);
}

/* The rate that was reached on the recording's own clock. */
static struct cli_cell info_rate(CLI_OF_ROW)
{
    const struct info_row *r = row;
    const struct jsp_clock_row *driver = jsp_clock_find(r->capture->info.clock);
    uint64_t ns = r->account->clock_ns[driver ? driver->clock : JSP_CLOCK_CPU];
    struct cli_cell cell = { .shown = "-" };
    if (ns && r->account->is.kept)
        snprintf(cell.shown, sizeof cell.shown, "%.0f Hz",
                 (double)r->account->is.kept / ((double)ns / 1e9));
    return cell;
}

static bool info_has_account(const void *of)
{
    return jsprof_read_accounts(((const struct cli_capture *)of)->reader, 0, NULL, 0) > 0;
}

#define INFO_FIELD(field) .offset = offsetof(struct info_row, field)
#define INFO_ACCOUNT(field) .offset = offsetof(struct cli_account, field)
#define INFO_COUNT(column, field, text)                                                      \
    { .name = column, .type = CLI_TYPE_COUNT, .get = info_account, INFO_ACCOUNT(field),      \
      .may_lack = true, .means = text }
#define INFO_LOSS(CAUSE, cause, asked, name, meaning)                                        \
    INFO_COUNT("lost_" #cause, lost[JSP_LOST_##CAUSE], "Expirations lost: " meaning "."),
#define INFO_STATE(STATE, key, noun)                                                         \
    { .name = "state_" key, .type = CLI_TYPE_COUNT, .get = info_state, .may_lack = true,     \
      .offset = JSP_STATE_##STATE,                                                           \
      .means = "Expirations in which the thread was " noun "; null where samples have no "   \
               "states." },
#define INFO_TASKS(column, field, text)                                                      \
    { .name = column, .type = CLI_TYPE_COUNT, .get = info_task_count, .may_lack = true,      \
      .offset = offsetof(jsprof_read_tasks_sum, field), .means = text }
#define INFO_CLOCK(CLOCK, key, unit, noun, meaning)                                          \
    { .name = unit, .type = CLI_TYPE_NS, .get = info_account, .may_lack = true,              \
      INFO_ACCOUNT(clock_ns[JSP_CLOCK_##CLOCK]),                                             \
      .means = "What passed on this clock while the thread was attached." },

/* Lines of text on the whole capture, and columns of its threads. */
/* Causes of loss that were added later have their columns after older ones, which keep their
 * places. */
static const struct cli_column info_columns[] = {
    { .label = "process", .line = cli_info_processes },
    { .name = "capture", .type = CLI_TYPE_TEXT, .get = cli_get_string, INFO_FIELD(file),
      .means = "The capture as it was named, or \"standard input\"." },
    { .name = "recorder", .label = "recorder", .line = cli_info_recorder, .type = CLI_TYPE_TEXT,
      .get = cli_get_string, INFO_FIELD(recorder),
      .means = "The version of jsprof that recorded it; empty: another program did." },
    { .label = "recorded", .line = cli_info_recorded },
    { .name = "clock", .label = "clock", .line = cli_info_clock, .type = CLI_TYPE_TEXT,
      .get = cli_get_string, INFO_FIELD(clock),
      .means = "The clock of the samples, cpu or wall; empty: the file names none." },
    { .name = "hz", .type = CLI_TYPE_COUNT, .get = cli_get_u32, INFO_FIELD(hz),
      .means = "Samples a second that were asked for; 0: not known." },
    { .name = "state", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      INFO_FIELD(state),
      .means = "running, stopped or final; empty: the file has no account." },
    { .name = "samples", .label = "samples", .line = cli_info_samples, .type = CLI_TYPE_COUNT,
      .get = cli_get_u64, INFO_FIELD(samples), .means = "Samples in the capture." },
    { .label = "states", .line = cli_info_states },
    { .label = "allocated", .line = cli_info_allocations },
    { .label = "tasks", .line = cli_info_tasks },
    { .label = "children", .line = cli_info_forks },
    { .label = "C stacks", .line = cli_info_stops },
    { .label = "VM frames", .line = cli_info_bad },
    { .label = "source", .type = CLI_TYPE_TEXT, .get = info_said,
      .offset = offsetof(jsprof_read_info, source) },
    { .label = "scheduler", .type = CLI_TYPE_TEXT, .get = info_said,
      .offset = offsetof(jsprof_read_info, scheduler) },
    { .label = "looks", .type = CLI_TYPE_TEXT, .get = info_said,
      .offset = offsetof(jsprof_read_info, looks) },
    { .label = "names", .type = CLI_TYPE_WORD, .get = info_no_proc },
    { .label = "names", .line = cli_info_names },
    { .label = "labels", .line = cli_info_labels },
    { .label = "marks", .line = cli_info_marks },
    { .name = "stacks", .type = CLI_TYPE_COUNT, .get = cli_get_u64, INFO_FIELD(stacks),
      .means = "Different stacks in the capture." },
    { .name = "process", .type = CLI_TYPE_INTEGER, .get = cli_get_i32, INFO_FIELD(process),
      .means = "The number of the process." },
    { .name = "thread", .head = "THREAD", .type = CLI_TYPE_INTEGER, .get = cli_get_i32,
      INFO_FIELD(thread), .place = 10, .width = 9, .means = "The number of the thread." },
    { .name = "name", .head = "NAME", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      INFO_FIELD(name), .place = 20, .width = -16,
      .means = "The name of the thread; empty where it has none." },
    { .name = "thread_samples", .head = "SAMPLES", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      INFO_FIELD(thread_samples), .place = 30, .width = 10, .means = "Samples of the thread." },
    { .name = "expirations", .head = "EXPIRATIONS", .type = CLI_TYPE_COUNT,
      .get = info_account, INFO_ACCOUNT(is.expirations), .place = 40, .width = 13,
      .fits = info_has_account, .may_lack = true,
      .means = "Expirations of the thread's timer." },
    { .head = "LOST", .type = CLI_TYPE_COUNT, .get = info_lost, .place = 50, .width = 9,
      .fits = info_has_account },
    { .head = "RATE", .type = CLI_TYPE_TEXT, .get = info_rate, .place = 60, .width = 9,
      .fits = info_has_account },
    { .head = "CPU TIME", .type = CLI_TYPE_NS, .get = info_account,
      INFO_ACCOUNT(clock_ns[JSP_CLOCK_CPU]), .place = 70, .width = 10,
      .fits = info_has_account },
    INFO_COUNT("kept", is.kept, "Expirations that samples stand for."),
    JSP_LOSSES_FIRST(INFO_LOSS)
    INFO_COUNT("frames_cut", is.frames_cut, "Frames cut from stacks that were too deep."),
    INFO_COUNT("frames_bad", is.frames_bad, "Frames of the host that made no sense."),
    INFO_COUNT("underflows", is.underflows, "Frames that the host left without entering them."),
    JSP_CLOCKS(INFO_CLOCK)
    { .name = "marks_lost", .type = CLI_TYPE_COUNT, .get = cli_get_cell,
      INFO_FIELD(marks_lost), .may_lack = true,
      .means = "Marks and counters of the whole session that were lost." },
    { .name = "adds_up", .type = CLI_TYPE_BOOL, .get = cli_get_cell, INFO_FIELD(adds_up),
      .may_lack = true, .means = "The thread's expirations are those kept and those lost." },
    { .name = "form", .label = "file", .line = cli_info_form, .type = CLI_TYPE_TEXT,
      .get = cli_get_string, INFO_FIELD(form), .words = cli_info_forms,
      .means = "How the samples are stored." },
    JSP_LOSSES_LATER(INFO_LOSS)
    { .name = "all_expirations", .type = CLI_TYPE_COUNT, .get = cli_get_cell,
      INFO_FIELD(all_expirations), .may_lack = true, .means = "Expirations of all threads." },
    { .name = "all_kept", .type = CLI_TYPE_COUNT, .get = cli_get_cell,
      INFO_FIELD(all_kept), .may_lack = true,
      .means = "Expirations of all threads that samples stand for." },
    { .name = "complete", .type = CLI_TYPE_BOOL, .get = cli_get_cell, INFO_FIELD(complete),
      .may_lack = true, .means = "The file holds all that was recorded, to the end." },
    JSP_STATES_KNOWN(INFO_STATE)
    INFO_TASKS("tasks", tasks, "Tasks in the capture; null here and below: it has none."),
    INFO_TASKS("runs", runs, "Runs of tasks."),
    INFO_TASKS("turns", turns, "Turns of loops."),
    { .name = "stall_ns", .type = CLI_TYPE_NS, .get = info_task_count, .may_lack = true,
      .offset = offsetof(jsprof_read_tasks_sum, stall_ns),
      .means = "It has only turns that took so many nanoseconds; 0: all." },
    INFO_TASKS("tasks_lost", lost, "Records of tasks that were lost."),
    INFO_TASKS("tasks_unmatched", ends_unmatched, "Ends of runs without a begin."),
    INFO_TASKS("tasks_left", runs_left, "Runs that were left without an end."),
    INFO_TASKS("tasks_deep", runs_deep, "Runs inside too many others."),
    INFO_TASKS("tasks_foreign", wrong_handles, "Wrong handles of tasks."),
    INFO_TASKS("tasks_unknown", unknown, "Runs of tasks that the capture lacks."),
    INFO_TASKS("tasks_before", before, "Of these, the ones of tasks made before it began."),
    INFO_TASKS("tasks_repeated", repeated, "Tasks that the capture has twice."),
    INFO_TASKS("tasks_orphans", orphans, "Tasks whose maker the capture lacks."),
    INFO_TASKS("tasks_crossing", crossing, "Runs that end after the one around them."),
    INFO_TASKS("tasks_malformed", malformed, "Parts of the records that are not readable."),
    { 0 }
};

static const struct cli_document info_document = {
    .means = "A row for each thread of each capture: what was recorded and lost.",
    .lists = { { .name = "rows", .means = "The threads.", .columns = info_columns } },
};

/* -- Rows ------------------------------------------------------------------- */

static struct info_row info_row(const struct cli_capture *c, const struct cli_accounts *a)
{
    const jsprof_read_info *i = &c->info;
    struct cli_cell none = cli_cell_none();
    bool is_ours = *i->version || a->n > 0;
    return (struct info_row){
        .capture = c, .accounts = a, .file = c->label, .recorder = i->version, .clock = i->clock,
        .state = i->state, .form = cli_info_form_of(c), .name = "", .samples = i->samples,
        .stacks = i->stacks, .hz = i->hz, .marks_lost = none, .adds_up = none,
        .all_expirations = is_ours ? cli_cell_u64(i->expirations) : none,
        .all_kept = is_ours ? cli_cell_u64(i->kept) : none,
        .complete = is_ours ? cli_cell_bool(i->is_whole) : none,
    };
}

/* Find what the thread was doing. Its samples do not show in which of its accounts they are. */
static void info_states_of(struct info_row *r, const jsprof_read_account *of)
{
    const struct cli_accounts *a = r->accounts;
    r->has_states = r->capture->info.has_states && of->thread < a->n_sampled;
    memset(r->by_state, 0, sizeof r->by_state);
    if (r->has_states)
        cli_info_states_add(r->by_state, &a->sampled[of->thread]);
}

static void info_of_account(struct info_row *r, const struct cli_account *t)
{
    r->account = t;
    r->has_states = false;
    if (t->is.is_newest)
        info_states_of(r, &t->is);
    r->process = t->is.pid;
    r->thread = t->is.tid;
    r->name = t->is.name;
    r->thread_samples = t->is.samples;
}

/* Print the threads of a capture without accounts. */
static void info_foreign(struct info_row *r, struct cli_table *t, uint64_t most)
{
    for (uint64_t i = 0; i < most && i < r->accounts->n_sampled; i++) {
        const jsprof_read_thread *of = &r->accounts->sampled[i];
        r->process = of->pid;
        r->thread = of->tid;
        r->thread_samples = of->samples;
        r->has_states = r->capture->info.has_states;
        memset(r->by_state, 0, sizeof r->by_state);
        cli_info_states_add(r->by_state, of);
        cli_table_row(t, r);
    }
}

/* Print a row for each account, so that a thread that attached twice has two. */
static int info_rows(const struct cli_capture *c, const struct cli_accounts *a,
                     struct cli_table *t)
{
    struct info_row row = info_row(c, a);
    jsprof_read_process first = { .size = sizeof first };
    jsprof_read_tasks_sum tasks;
    row.tasks = cli_info_tasks_of(c, &tasks) ? &tasks : NULL;
    int status = CLI_OK;
    for (uint32_t i = 0; i < a->n; i++) {
        bool adds_up = cli_info_adds_up(c, a, &a->threads[i]) == CLI_OK;
        info_of_account(&row, &a->threads[i]);
        row.marks_lost = cli_cell_u64(c->info.marks_lost);
        row.adds_up = cli_cell_bool(adds_up);
        if (!adds_up)
            status = CLI_FAILED;
        cli_table_row(t, &row);
    }
    if (!a->n)
        info_foreign(&row, t, UINT64_MAX);
    if (!a->n && !a->n_sampled && *c->info.version) {
        /* the totals alone */
        int64_t got = jsprof_read_processes(c->reader, 0, &first, 1);
        cli_incomplete(got < 0);
        row.process = got == 1 ? first.pid : 0;
        cli_table_row(t, &row);
    }
    return status;
}

static struct cli_table *info_open(const struct cli_form *form, const struct cli_capture *c)
{
    return cli_table_open(&(struct cli_show){ .form = form, .command = "info",
                                              .columns = info_columns,
                                              .document = &info_document, .of = c,
                                              .capture = c });
}

/* Print a line for each thread: samples, rate reached, time, losses by cause. */
static int info_threads(const struct cli_capture *c, const struct cli_accounts *a,
                        const struct cli_form *form)
{
    struct info_row row = info_row(c, a);
    uint32_t n;
    if (!a->n && !a->n_sampled)
        return CLI_OK;
    struct cli_info_sum *sums = cli_info_sums(a, &n);
    if (!sums)
        return cli_fail(c->label, "%s", strerror(ENOMEM));
    putchar('\n');
    struct cli_table *t = info_open(form, c);
    for (uint32_t i = 0; t && i < n; i++) {
        info_of_account(&row, &sums[i].t);
        cli_table_row(t, &row);
        cli_info_extras(&sums[i]);
        info_states_of(&row, &sums[i].t.is);
        if (row.has_states && a->n_sampled > 1) {
            fputs("           ", stdout);
            cli_info_by_state(row.by_state);
        }
    }
    free(sums);
    if (t && !a->n)
        info_foreign(&row, t, INFO_MOST);
    if (n == 0 && a->n_sampled > INFO_MOST)
        printf("%9s  and %d more\n", "", (int)a->n_sampled - INFO_MOST);
    return cli_table_close(t);
}

static int info_text(const struct cli_capture *c, const struct cli_accounts *a,
                     const struct cli_form *form)
{
    cli_colour(&c->style, CLI_BOLD);
    cli_name(&c->style, cli_span(c->label), c->style.columns);
    cli_colour(&c->style, CLI_PLAIN);
    putchar('\n');
    struct info_row row = info_row(c, a);
    cli_table_lines(info_columns, c, &row);
    int status = info_threads(c, a, form);
    return cli_info_balance(c, a) ? CLI_FAILED : status;
}

static int info_run(struct cli_arguments *a)
{
    struct cli_form form = { 0 };
    const struct cli_option options[] = { CLI_FORM_OPTIONS(&form), { 0 } };
    int status = CLI_OK;
    if (cli_options(a, options) || cli_form_check(a->command, &form))
        return CLI_USAGE;
    if (a->n_files == 0)
        return cli_usage(a->command, "no capture named");
    bool is_text = cli_form_is_text(&form);
    struct cli_table *rows = is_text ? NULL : info_open(&form, NULL);
    for (int i = 0; (is_text || rows) && i < a->n_files; i++) {
        struct cli_capture c;
        if (i && is_text)
            putchar('\n');
        if (cli_load(&c, a->files[i])) {
            status = CLI_FAILED;
            continue;
        }
        struct cli_accounts accounts;
        if (cli_accounts_open(&accounts, &c) ||
            (is_text ? info_text(&c, &accounts, &form) : info_rows(&c, &accounts, rows)))
            status = CLI_FAILED;
        cli_accounts_close(&accounts);
        cli_close(&c);
    }
    return !is_text && cli_table_close(rows) ? CLI_FAILED : status;
}

const struct cli_command cli_info = {
    .name = "info",
    .summary = "what was recorded, at which rate, and what was lost",
    .help = info_help,
    .run = info_run,
    .is_followed = true,
    .documents = { &info_document },
};
