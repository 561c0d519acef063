/* info_rows.c - `jsprof info` for programs: a row for each thread of a recording.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/info.h"
#include "cli/options.h"
#include "cli/rows.h"

#define INFO_ROWS_COLUMN(CAUSE, cause, asked, name, meaning) "lost_" #cause,
#define INFO_ROWS_FIGURE(CAUSE, cause, asked, name, meaning) t->lost[JSP_LOST_##CAUSE],
#define INFO_ROWS_UNIT(CLOCK, key, unit, name, meaning) unit,
#define INFO_ROWS_CLOCK(CLOCK, key, unit, name, meaning) t->clock_ns[JSP_CLOCK_##CLOCK],

/* Causes that were added later have their columns after older ones, which keep their places. */
const char *const cli_info_columns[] = {
    "file",        "recorder",    "clock",       "hz",         "state",     "samples",
    "stacks",      "process",     "thread",      "name",       "thread_samples",
    "expirations", "kept",
    JSP_LOSSES_FIRST(INFO_ROWS_COLUMN)
    "frames_cut",  "frames_bad",  "underflows",
    JSP_CLOCKS(INFO_ROWS_UNIT)
    "marks_lost",  "adds_up",     "form",
    JSP_LOSSES_LATER(INFO_ROWS_COLUMN)
    "all_expirations", "all_kept", "complete", NULL
};

static void info_rows_capture(const struct cli_capture *c, struct cli_rows *rows)
{
    const struct jsp_profile *p = &c->profile;
    struct jsp_account_verdict v;
    jsp_account_verdict(&p->account, &v);
    cli_rows_text(rows, cli_span(c->label));
    cli_rows_text(rows, cli_span(p->version[0] ? p->version : ""));
    cli_rows_text(rows, cli_span(p->clock));
    cli_rows_u64(rows, p->hz);
    cli_rows_text(rows, cli_span(v.state));
    cli_rows_u64(rows, p->samples);
    cli_rows_u64(rows, p->n_stacks);
}

/* All threads together, which may be of a later moment. */
static void info_rows_all(const struct cli_capture *c, struct cli_rows *rows)
{
    struct jsp_account_verdict v;
    jsp_account_verdict(&c->profile.account, &v);
    cli_rows_u64(rows, v.sum.expirations);
    cli_rows_u64(rows, v.sum.kept);
    cli_rows_u64(rows, v.is_whole);
}

static int info_rows_ours(const struct cli_capture *c, struct cli_rows *rows,
                          const struct jsp_account_thread *t)
{
    int status = cli_info_adds_up(c, t);
    const uint64_t figures[] = {
        t->samples, t->expirations, t->kept, JSP_LOSSES_FIRST(INFO_ROWS_FIGURE)
        t->frames_cut, t->frames_bad, t->underflows, JSP_CLOCKS(INFO_ROWS_CLOCK)
        c->profile.account.session.marks_lost
    };
    const uint64_t later[] = { JSP_LOSSES_LATER(INFO_ROWS_FIGURE) };
    info_rows_capture(c, rows);
    cli_rows_i64(rows, t->pid);
    cli_rows_i64(rows, t->tid);
    cli_rows_text(rows, cli_span(t->name));
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        cli_rows_u64(rows, figures[i]);
    cli_rows_u64(rows, status == CLI_OK);
    cli_rows_text(rows, cli_span(cli_info_form(&c->profile)));
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        cli_rows_u64(rows, later[i]);
    info_rows_all(c, rows);
    return status;
}

static void info_rows_foreign(const struct cli_capture *c, struct cli_rows *rows,
                              const struct jsp_thread_info *t)
{
    info_rows_capture(c, rows);
    cli_rows_i64(rows, t->pid);
    cli_rows_i64(rows, t->tid);
    cli_rows_text(rows, cli_span(""));
    cli_rows_u64(rows, t->samples);
    for (int i = 0; i < 14; i++)
        cli_rows_none(rows);
    cli_rows_text(rows, cli_span(cli_info_form(&c->profile)));
    for (int i = 0; i < 2; i++)
        cli_rows_none(rows);
    if (c->profile.version[0]) {
        info_rows_all(c, rows);
        return;
    }
    for (int i = 0; i < 3; i++)
        cli_rows_none(rows);
}

int cli_info_rows(const struct cli_capture *c, struct cli_rows *rows)
{
    const struct jsp_profile *p = &c->profile;
    int status = CLI_OK;
    for (uint32_t i = 0; i < p->account.n_threads; i++)
        if (info_rows_ours(c, rows, &p->account.threads[i]))
            status = CLI_FAILED;
    for (uint32_t i = 0; p->account.n_threads == 0 && i < p->n_threads; i++)
        info_rows_foreign(c, rows, &p->threads[i]);
    if (p->account.n_threads + p->n_threads == 0 && p->version[0]) { /* the totals alone */
        const struct jsp_thread_info nobody = { .pid = p->n_processes ? p->processes[0].pid : 0 };
        info_rows_foreign(c, rows, &nobody);
    }
    return status;
}
