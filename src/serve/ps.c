/* serve/ps.c - `jsprof ps`: the processes that can be recorded now.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/open.h"
#include "client.h"

static const char ps_help[] =
    "usage: jsprof ps [OPTION]...\n"
    "\n"
    "Lists the processes of this user that listen: those started with\n"
    "JSPROF_CONTROL=1, or whose host asked for it, a line for each session. STATE is\n"
    "  ready      jsprof record, top and dump can begin\n"
    "  recording  another command records it now\n"
    "  file       it records itself into a file\n"
    "  stopped    its host has stopped it, or there is none\n"
    "  silent     it gave no answer: SIGSTOP, a debugger, a hang\n"
    "\n"
    CLI_FORM_HELP;

struct ps_row {
    const struct serve_process *process;
    const struct serve_session *session; /* NULL: the process has none, or gave no answer */
    int32_t pid;
    int64_t since;
    const char *host;
    struct cli_cell number, threads, vm, path;
    const char *state;
};

static const char *const ps_states[] = { "ready", "recording", "file", "stopped", "silent",
                                         NULL };

static struct cli_cell ps_since(CLI_OF_ROW)
{
    const struct ps_row *r = row;
    struct cli_cell cell = cli_cell_i64(r->since);
    time_t t = (time_t)r->since;
    struct tm local;
    if (localtime_r(&t, &local))
        strftime(cell.shown, sizeof cell.shown, "%F %T", &local);
    return cell;
}

#define PS_FIELD(field) .offset = offsetof(struct ps_row, field)

static const struct cli_column ps_columns[] = {
    { .name = "process", .head = "PROCESS", .type = CLI_TYPE_INTEGER, .get = cli_get_i32,
      PS_FIELD(pid), .place = 10, .width = 8,
      .means = "The number of the process; if it has none here, that of its container." },
    { .name = "session", .head = "SESSION", .type = CLI_TYPE_COUNT, .get = cli_get_cell,
      PS_FIELD(number), .place = 20, .width = 8, .minimum = 90, .may_lack = true,
      .means = "The number of the session in its process, for --session." },
    { .name = "state", .head = " STATE", .type = CLI_TYPE_WORD, .get = cli_get_string,
      PS_FIELD(state), .place = 30, .width = -11, .words = ps_states,
      .means = "What can be done; silent: it gave no answer." },
    { .name = "threads", .head = "THREADS", .type = CLI_TYPE_COUNT, .get = cli_get_cell,
      PS_FIELD(threads), .place = 40, .width = 8, .may_lack = true,
      .means = "Attached threads." },
    { .name = "since", .head = "SINCE", .type = CLI_TYPE_INTEGER, .get = ps_since,
      PS_FIELD(since), .place = 50, .width = 20,
      .means = "When it began to listen, in seconds since 1970." },
    { .name = "host", .head = " HOST", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      PS_FIELD(host), .place = 60, .width = -17, .means = "The name of the program." },
    { .name = "vm", .head = "VM", .type = CLI_TYPE_TEXT, .get = cli_get_cell,
      PS_FIELD(vm), .place = 70, .may_lack = true,
      .means = "The interpreter, as its host calls it." },
    { .name = "path", .type = CLI_TYPE_TEXT, .get = cli_get_cell, PS_FIELD(path),
      .may_lack = true, .means = "The file into which it records itself." },
    { 0 }
};

static const struct cli_document ps_document = {
    .means = "The sessions of the processes that listen.",
    .lists = { { .name = "rows", .means = "The sessions.", .columns = ps_columns } },
};

static struct cli_cell ps_text(const char *text)
{
    return *text ? cli_cell_string(text) : cli_cell_none();
}

static void ps_row(struct cli_table *table, const struct serve_process *p,
                   const struct serve_session *s)
{
    struct ps_row r = { .process = p, .session = s, .pid = p->pid, .since = p->since,
                        .host = p->host, .state = s ? s->state : p->err ? "silent" : "stopped" };
    r.number = r.threads = r.vm = r.path = cli_cell_none();
    if (s) {
        r.number = cli_cell_u64(s->number);
        r.threads = cli_cell_u64(s->threads);
        r.vm = ps_text(s->vm);
        r.path = ps_text(s->path);
    }
    cli_table_row(table, &r);
}

static int ps_print(const struct serve_list *list, const struct cli_form *form)
{
    struct cli_table *table = cli_table_open(&(struct cli_show){
        .form = form, .command = "ps", .columns = ps_columns, .document = &ps_document });
    for (uint32_t i = 0; table && i < list->n; i++) {
        const struct serve_process *p = &list->at[i];
        for (uint32_t k = 0; k < p->n_sessions; k++)
            ps_row(table, p, &p->sessions[k]);
        if (!p->n_sessions)
            ps_row(table, p, NULL);
    }
    return cli_table_close(table);
}

static int ps_run(struct cli_arguments *a)
{
    struct cli_form form = { 0 };
    struct serve_list list;
    const struct cli_option options[] = { CLI_FORM_OPTIONS(&form), { 0 } };
    if (cli_options(a, options) || cli_form_check(a->command, &form))
        return CLI_USAGE;
    if (a->n_files)
        return cli_usage(a->command, "no file is read");
    int status = serve_find(&list) < 0 ? cli_fail("ps", "%s", strerror(ENOMEM))
                                       : ps_print(&list, &form);
    serve_free(&list);
    return status;
}

const struct cli_command cli_ps = {
    .name = "ps",
    .summary = "the processes that can be recorded now",
    .help = ps_help,
    .run = ps_run,
    .documents = { &ps_document },
};
