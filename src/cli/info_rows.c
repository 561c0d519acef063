/* cli/info_rows.c - `jsprof info` for programs: a row for each thread of a recording.
 *
 * SPDX-License-Identifier: MIT
 */
#include "head.h"
#include "info.h"
#include "options.h"

/* A thread of our own recordings has an account, a thread of others only its samples. */
struct info_row {
    const char *file, *recorder, *clock, *form, *name;
    uint64_t samples, stacks, thread_samples, marks_lost;
    uint32_t hz;
    int32_t process, thread;
    const struct jsp_account_thread *account; /* NULL: none */
    bool adds_up;                             /* of the account */
    bool is_ours;                             /* the file has the account of all threads: */
    struct jsp_account_verdict verdict;       /* it may be later than the account of the thread */
};

/* -- Columns ---------------------------------------------------------------- */

/* A count of the thread's account, at c->offset. */
static struct cli_cell info_account(CLI_OF_ROW)
{
    const struct info_row *r = row;
    return r->account ? cli_get_u64(c, of, r->account) : cli_cell_none();
}

static struct cli_cell info_marks_lost(CLI_OF_ROW)
{
    return ((const struct info_row *)row)->account ? cli_get_u64(c, of, row) : cli_cell_none();
}

static struct cli_cell info_adds_up(CLI_OF_ROW)
{
    const struct info_row *r = row;
    return r->account ? cli_cell_bool(r->adds_up) : cli_cell_none();
}

static struct cli_cell info_all(CLI_OF_ROW)
{
    return ((const struct info_row *)row)->is_ours ? cli_get_u64(c, of, row) : cli_cell_none();
}

static struct cli_cell info_complete(CLI_OF_ROW)
{
    const struct info_row *r = row;
    return r->is_ours ? cli_cell_bool(r->verdict.is_whole) : cli_cell_none();
}

#define INFO_FIELD(field) .offset = offsetof(struct info_row, field)
#define INFO_COUNT(column, field, text)                                                      \
    { .name = column, .type = CLI_TYPE_COUNT, .get = info_account,                           \
      .offset = offsetof(struct jsp_account_thread, field), .may_lack = true, .means = text }
#define INFO_LOSS(CAUSE, cause, asked, name, meaning)                                        \
    INFO_COUNT("lost_" #cause, lost[JSP_LOST_##CAUSE], "Expirations lost: " meaning "."),
#define INFO_CLOCK(CLOCK, key, unit, noun, meaning)                                          \
    { .name = unit, .type = CLI_TYPE_NS, .get = info_account, .may_lack = true,              \
      .offset = offsetof(struct jsp_account_thread, clock_ns[JSP_CLOCK_##CLOCK]),            \
      .means = "What passed on this clock while the thread was attached." },

/* Causes of loss that were added later have their columns after older ones, which keep their
 * places. */
static const struct cli_column info_columns[] = {
    { .name = "capture", .type = CLI_TYPE_TEXT, .get = cli_get_string, INFO_FIELD(file),
      .means = "The capture as it was named, or \"standard input\"." },
    { .name = "recorder", .type = CLI_TYPE_TEXT, .get = cli_get_string, INFO_FIELD(recorder),
      .means = "The version of jsprof that recorded it; empty: another program did." },
    { .name = "clock", .type = CLI_TYPE_TEXT, .get = cli_get_string, INFO_FIELD(clock),
      .means = "The clock of the samples, cpu or wall; empty: the file names none." },
    { .name = "hz", .type = CLI_TYPE_COUNT, .get = cli_get_u32, INFO_FIELD(hz),
      .means = "Samples a second that were asked for; 0: not known." },
    { .name = "state", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      INFO_FIELD(verdict.state),
      .means = "running, stopped or final; empty: the file has no account." },
    { .name = "samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64, INFO_FIELD(samples),
      .means = "Samples in the capture." },
    { .name = "stacks", .type = CLI_TYPE_COUNT, .get = cli_get_u64, INFO_FIELD(stacks),
      .means = "Different stacks in the capture." },
    { .name = "process", .type = CLI_TYPE_INTEGER, .get = cli_get_i32, INFO_FIELD(process),
      .means = "The number of the process." },
    { .name = "thread", .type = CLI_TYPE_INTEGER, .get = cli_get_i32, INFO_FIELD(thread),
      .means = "The number of the thread." },
    { .name = "name", .type = CLI_TYPE_TEXT, .get = cli_get_string, INFO_FIELD(name),
      .means = "The name of the thread; empty where it has none." },
    { .name = "thread_samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      INFO_FIELD(thread_samples), .means = "Samples of the thread." },
    INFO_COUNT("expirations", expirations, "Expirations of the thread's timer."),
    INFO_COUNT("kept", kept, "Expirations that samples stand for."),
    JSP_LOSSES_FIRST(INFO_LOSS)
    INFO_COUNT("frames_cut", frames_cut, "Frames cut from stacks that were too deep."),
    INFO_COUNT("frames_bad", frames_bad, "Frames of the host that made no sense."),
    INFO_COUNT("underflows", underflows, "Frames that the host left without entering them."),
    JSP_CLOCKS(INFO_CLOCK)
    { .name = "marks_lost", .type = CLI_TYPE_COUNT, .get = info_marks_lost,
      INFO_FIELD(marks_lost), .may_lack = true,
      .means = "Marks and counters of the whole session that were lost." },
    { .name = "adds_up", .type = CLI_TYPE_BOOL, .get = info_adds_up, .may_lack = true,
      .means = "The thread's expirations are those kept and those lost." },
    { .name = "form", .type = CLI_TYPE_TEXT, .get = cli_get_string, INFO_FIELD(form),
      .words = cli_info_forms, .means = "How the samples are stored." },
    JSP_LOSSES_LATER(INFO_LOSS)
    { .name = "all_expirations", .type = CLI_TYPE_COUNT, .get = info_all, .may_lack = true,
      INFO_FIELD(verdict.sum.expirations), .means = "Expirations of all threads." },
    { .name = "all_kept", .type = CLI_TYPE_COUNT, .get = info_all, .may_lack = true,
      INFO_FIELD(verdict.sum.kept), .means = "Expirations of all threads that samples stand for." },
    { .name = "complete", .type = CLI_TYPE_BOOL, .get = info_complete, .may_lack = true,
      .means = "The file holds all that was recorded, to the end." },
    { 0 }
};

const struct cli_document cli_info_document = {
    .means = "A row for each thread of each capture: what was recorded and lost.",
    .lists = { { .name = "rows", .means = "The threads.", .columns = info_columns } },
};

/* -- Rows ------------------------------------------------------------------- */

struct cli_table *cli_info_open(const struct cli_form *form)
{
    return cli_table_open(&(struct cli_show){ .form = form, .command = "info",
                                              .columns = info_columns,
                                              .document = &cli_info_document });
}

int cli_info_rows(const struct cli_capture *c, struct cli_table *t)
{
    const struct jsp_profile *p = &c->profile;
    const struct jsp_account *a = &p->account;
    struct info_row row = { .file = c->label, .recorder = p->version, .clock = p->clock,
                            .form = cli_info_form(p), .name = "", .samples = p->samples,
                            .stacks = p->n_stacks, .hz = p->hz, .is_ours = p->version[0],
                            .marks_lost = a->session.marks_lost };
    int status = CLI_OK;
    jsp_account_verdict(a, &row.verdict);
    row.is_ours |= a->n_threads > 0;
    for (uint32_t i = 0; i < a->n_threads; i++) {
        row.account = &a->threads[i];
        row.process = row.account->pid;
        row.thread = row.account->tid;
        row.name = row.account->name;
        row.thread_samples = row.account->samples;
        row.adds_up = cli_info_adds_up(c, row.account) == CLI_OK;
        if (!row.adds_up)
            status = CLI_FAILED;
        cli_table_row(t, &row);
    }
    for (uint32_t i = 0; a->n_threads == 0 && i < p->n_threads; i++) {
        row.process = p->threads[i].pid;
        row.thread = p->threads[i].tid;
        row.thread_samples = p->threads[i].samples;
        cli_table_row(t, &row);
    }
    if (a->n_threads + p->n_threads == 0 && p->version[0]) { /* the totals alone */
        row.process = p->n_processes ? p->processes[0].pid : 0;
        cli_table_row(t, &row);
    }
    return status;
}
