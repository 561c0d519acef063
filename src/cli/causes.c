/* cli/causes.c - `jsprof causes`: who scheduled a task.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/causes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "export/dot.h"
#include "filter.h"
#include "head.h"
#include "task_stack.h"

enum { CAUSES_LIMIT = 5, CAUSES_FRAMES = 4, CAUSES_DOT = 60 };

static const char causes_help[] =
    "usage: jsprof causes [OPTION]... FILE TASK|FUNCTION|MARK\n"
    "\n"
    "Shows why a task ran: the task that ran when it was made, the task that made\n"
    "that one, and so on, each with the functions on whose stack it was made. TASK is\n"
    "a number, as in #7, or a part of a kind and name, as in 'promise show'. Tasks\n"
    "with equal chains are counted together; those with the longest runs come first.\n"
    "Of a FUNCTION: the tasks in which samples have it. Of a MARK, as in gc/sweep or\n"
    "sweep: the tasks that ran when it began.\n"
    "\n"
    "  --limit N        show at most N chains; 0 is all (default 5)\n"
    "  --stacks         show all functions of each stack, C functions too\n"
    "  --dot            the chains as one graph, for Graphviz\n"
    CLI_FORM_FOLLOW_HELP
    "\n"
    "A link that repeats itself, such as a timer that sets itself again, is shown\n"
    "once, with a count. `jsprof loop` lists the tasks.\n";

struct causes {
    struct cli_capture capture;
    struct cli_filter filter;
    struct cli_form form;
    struct jsp_tasks tasks;
    struct jsp_causes causes;
    struct cli_head head;
    const char *which;
    uint32_t limit;
    bool has_stacks, is_dot;
    struct jsp_profile_frame *frames; /* owned; room for a stack */
};

struct causes_row {
    const struct jsp_causes_chain *chain;
    const struct jsp_causes_link *link;
    uint64_t number, level;
    const char *stack; /* leaf first, with " < " between them */
};

/* -- Stacks ------------------------------------------------------------------- */

/* Return the names of a stack's functions: all, or a few of the VM. The caller frees it. */
static char *causes_stack(struct causes *c, uint32_t stack, const char *between, bool is_all)
{
    return cli_task_stack(&(struct cli_task_stack){
        .tasks = &c->tasks, .profile = c->capture.profile, .frames = c->frames,
        .between = between, .is_vm = !is_all, .most = is_all ? 0 : CAUSES_FRAMES }, stack);
}

static struct cli_span causes_span(struct jsp_read_text t)
{
    return (struct cli_span){ t.at, t.len };
}

/* -- Text --------------------------------------------------------------------- */

static void causes_name(const struct causes *c, uint32_t what)
{
    const struct jsp_task_what *w = &c->tasks.whats[what];
    const struct cli_style *s = &c->capture.style;
    cli_name(s, causes_span(w->kind), 0);
    if (w->kind.len && w->name.len)
        putchar(' ');
    cli_name(s, causes_span(w->name), 0);
    if (!w->kind.len && !w->name.len)
        fputs("(without a name)", stdout);
}

static void causes_link(struct causes *c, const struct jsp_causes_link *link, bool is_first)
{
    const struct cli_style *s = &c->capture.style;
    const char *arrow = s->is_utf8 ? " ← " : " < ";
    fputs(is_first ? "  " : "  by ", stdout);
    cli_colour(s, is_first ? CLI_BOLD : CLI_PLAIN);
    causes_name(c, link->what);
    cli_colour(s, CLI_PLAIN);
    if (link->times > 1)
        printf(", up to %" PRIu32 " times in a row", link->times);
    putchar('\n');
    char *stack = causes_stack(c, link->stack, arrow, c->has_stacks);
    if (!stack || !*stack) {
        free(stack);
        return;
    }
    cli_colour(s, CLI_DIM);
    fputs("     made in ", stdout);
    cli_name(s, cli_span(stack), c->has_stacks || !s->columns ? 0 : s->columns - 13);
    cli_colour(s, CLI_PLAIN);
    putchar('\n');
    free(stack);
}

static void causes_chain(struct causes *c, const struct jsp_causes_chain *chain)
{
    char tasks[CLI_NUMBER], runs[CLI_NUMBER], total[CLI_NUMBER], delay[CLI_NUMBER];
    printf("%s task%s, %s run%s of %s", cli_count(tasks, chain->tasks), cli_s(chain->tasks),
           cli_count(runs, chain->runs), cli_s(chain->runs),
           cli_exact_duration(total, chain->total > 0 ? (uint64_t)chain->total : 0));
    if (chain->delay >= 0)
        printf(", delayed by at most %s", cli_exact_duration(delay, (uint64_t)chain->delay));
    putchar('\n');
    for (uint32_t i = 0; i < chain->n_links; i++) {
        causes_link(c, &chain->links[i], i == 0);
        if (i == 0 && chain->ready != JSP_TASK_NONE) {
            fputs("     made ready by ", stdout);
            causes_name(c, chain->ready);
            putchar('\n');
        }
    }
    puts(chain->is_cut ? "  by more tasks, which are not shown\n"
                       : "  by no task: the program itself, or one that is not in the capture\n");
}

/* -- Programs ------------------------------------------------------------------ */

static struct cli_cell causes_kind(CLI_OF_ROW)
{
    const struct causes_row *r = row;
    return cli_cell_text(((const struct causes *)of)->tasks.whats[r->link->what].kind);
}

static struct cli_cell causes_task(CLI_OF_ROW)
{
    const struct causes_row *r = row;
    return cli_cell_text(((const struct causes *)of)->tasks.whats[r->link->what].name);
}

static struct cli_cell causes_times(CLI_OF_ROW)
{
    return cli_cell_u64(((const struct causes_row *)row)->link->times);
}

static struct cli_cell causes_tasks(CLI_OF_ROW)
{
    return cli_cell_u64(((const struct causes_row *)row)->chain->tasks);
}

static struct cli_cell causes_runs(CLI_OF_ROW)
{
    return cli_cell_u64(((const struct causes_row *)row)->chain->runs);
}

static struct cli_cell causes_total(CLI_OF_ROW)
{
    return cli_cell_real(((const struct causes_row *)row)->chain->total);
}

static struct cli_cell causes_delay(CLI_OF_ROW)
{
    int64_t delay = ((const struct causes_row *)row)->chain->delay;
    return delay < 0 ? cli_cell_none() : cli_cell_real((double)delay);
}

static struct cli_cell causes_is_cut(CLI_OF_ROW)
{
    return cli_cell_bool(((const struct causes_row *)row)->chain->is_cut);
}

#define CAUSES_FIELD(field) .offset = offsetof(struct causes_row, field)

static const struct cli_column causes_columns[] = {
    { .name = "chain", .type = CLI_TYPE_COUNT, .get = cli_get_u64, CAUSES_FIELD(number),
      .means = "The number of the chain, from 1." },
    { .name = "level", .type = CLI_TYPE_COUNT, .get = cli_get_u64, CAUSES_FIELD(level),
      .means = "0 for the task itself, 1 for its maker, and so on." },
    { .name = "kind", .type = CLI_TYPE_TEXT, .get = causes_kind,
      .means = "What the task is, as the host calls it." },
    { .name = "name", .type = CLI_TYPE_TEXT, .get = causes_task, .means = "Its name." },
    { .name = "times", .type = CLI_TYPE_COUNT, .get = causes_times,
      .means = "How often the link repeats itself at most." },
    { .name = "stack", .type = CLI_TYPE_TEXT, .get = cli_get_string, CAUSES_FIELD(stack),
      .means = "The functions on whose stack it was made, the innermost first, joined by ;." },
    { .name = "tasks", .type = CLI_TYPE_COUNT, .get = causes_tasks,
      .means = "How many tasks have this chain." },
    { .name = "runs", .type = CLI_TYPE_COUNT, .get = causes_runs,
      .means = "How many times these tasks ran." },
    { .name = "total_ns", .type = CLI_TYPE_REAL, .get = causes_total,
      .means = "The sum of these runs, in nanoseconds." },
    { .name = "delay_max_ns", .type = CLI_TYPE_REAL, .get = causes_delay, .may_lack = true,
      .means = "Their longest delay in nanoseconds; null: none is known." },
    { .name = "is_cut", .type = CLI_TYPE_BOOL, .get = causes_is_cut,
      .means = "The chain goes on, but is not shown to its end." },
    { 0 }
};

static const struct cli_document causes_document = {
    .means = "Who scheduled a task: chains of the tasks that made it.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "The links of all chains.",
                 .columns = causes_columns } },
};

static int causes_rows(struct causes *c, uint32_t n)
{
    if (cli_head_of(&c->head, &c->capture))
        return CLI_FAILED;
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = &c->form, .command = "causes", .columns = causes_columns,
        .document = &causes_document, .head = &c->head, .of = c, .capture = &c->capture });
    for (uint32_t i = 0; t && i < n; i++)
        for (uint32_t k = 0; k < c->causes.chains[i].n_links; k++) {
            const struct jsp_causes_chain *chain = &c->causes.chains[i];
            char *stack = causes_stack(c, chain->links[k].stack, ";", true);
            cli_table_row(t, &(struct causes_row){ chain, &chain->links[k], i + 1u, k,
                                                   stack ? stack : "" });
            free(stack);
        }
    return cli_table_close(t);
}

/* Draw a box for each kind and name, and arrows with the number of tasks that were made so. */
static int causes_dot(struct causes *c, uint32_t n)
{
    static struct jsp_sink out; /* its block is large */
    bool *is_shown = calloc((size_t)c->tasks.n_whats + 1, sizeof *is_shown);
    struct jsp_dot_edge *edges = malloc(((size_t)n * JSP_CAUSES_LINKS + 1) * sizeof *edges);
    uint32_t n_edges = 0;
    for (uint32_t i = 0; is_shown && edges && i < n; i++) {
        const struct jsp_causes_chain *chain = &c->causes.chains[i];
        for (uint32_t k = 0; k < chain->n_links; k++) {
            is_shown[chain->links[k].what] = true;
            if (k)
                edges[n_edges++] = (struct jsp_dot_edge){
                    chain->links[k].what, chain->links[k - 1].what, chain->tasks };
        }
    }
    jsp_sink_init(&out, cli_table_write, NULL);
    int err = is_shown && edges ? jsp_dot_write(&out, &c->tasks, is_shown, edges, n_edges)
                                : -ENOMEM;
    cli_incomplete(err < 0);
    jsp_sink_flush(&out);
    free(is_shown);
    free(edges);
    return CLI_OK;
}

/* -- The command --------------------------------------------------------------- */

static int causes_print(struct causes *c)
{
    uint32_t all = c->causes.n_chains, n = c->limit && c->limit < all ? c->limit : all;
    if (c->is_dot)
        return causes_dot(c, n);
    if (!cli_form_is_text(&c->form))
        return causes_rows(c, n);
    for (uint32_t i = 0; i < n; i++)
        causes_chain(c, &c->causes.chains[i]);
    if (n < all)
        printf("%" PRIu32 " more chain%s (--limit 0 shows them)\n", all - n, cli_s(all - n));
    return CLI_OK;
}

/* Find the chains of the tasks of that name, or if there is none, of those in which the function
 * of that name was sampled, or else the mark of that name began. */
static int causes_find(struct causes *c)
{
    bool *asked = jsp_tasks_matching(&c->tasks, c->which);
    uint32_t n = 0;
    int err = asked ? 0 : -ENOMEM;
    for (uint32_t i = 0; err == 0 && i < c->tasks.n_tasks; i++)
        n += asked[i];
    if (err == 0 && !n)
        err = jsp_causes_of_function(&c->tasks, c->capture.profile, c->which, asked, &n);
    if (err == 0 && !n)
        jsp_causes_of_mark(&c->tasks, c->capture.profile, c->which, asked);
    if (err == 0)
        err = jsp_causes_build(&c->causes, &c->tasks, asked);
    free(asked);
    return err;
}

static int causes_show(struct causes *c)
{
    int err = jsp_tasks_read(&c->tasks, c->capture.profile);
    if (!err && !c->tasks.n_tasks)
        return cli_fail(c->capture.label, CLI_NO_TASKS);
    c->frames = malloc(JSP_PROFILE_DEPTH * sizeof *c->frames);
    if (!err)
        err = c->frames ? causes_find(c) : -ENOMEM;
    if (err)
        return cli_fail(c->capture.label, "%s", strerror(-err));
    if (c->causes.n_chains)
        return causes_print(c);
    char *which = cli_clean(&c->capture.style, cli_span(c->which));
    int status = cli_fail(c->capture.label, "no task and no function or mark in a task "
                          "\"%s\" (jsprof loop shows the tasks)", which ? which : "");
    free(which);
    return status;
}

static int causes_run(struct cli_arguments *a)
{
    struct causes c = { .limit = UINT32_MAX };
    const struct cli_option options[] = { { "limit", NULL, NULL, &c.limit },
                                          { "stacks", &c.has_stacks, NULL, NULL },
                                          { "dot", &c.is_dot, NULL, NULL },
                                          CLI_FORM_OPTIONS(&c.form),
                                          { 0 } };
    c.filter.has_idle = true; /* it shows no samples */
    if (cli_options(a, options) || cli_form_check(a->command, &c.form))
        return CLI_USAGE;
    if (a->n_files != 2)
        return cli_usage(a->command, "a capture and a task, a function or a mark are wanted");
    if (c.is_dot && !cli_form_is_text(&c.form))
        return cli_usage(a->command, "--dot is a form of its own");
    if (c.limit == UINT32_MAX) /* not given */
        c.limit = cli_form_is_text(&c.form) && !c.is_dot ? CAUSES_LIMIT : c.is_dot ? CAUSES_DOT : 0;
    int file = cli_which_file(a->files);
    c.which = a->files[!file];
    int status = cli_filter_open(&c.capture, a->files[file], &c.filter, a->command);
    if (status)
        return status;
    status = causes_show(&c);
    free(c.frames);
    jsp_causes_free(&c.causes);
    jsp_tasks_free(&c.tasks);
    cli_close(&c.capture);
    return status;
}

const struct cli_command cli_causes = {
    .name = "causes",
    .summary = "who scheduled a task: the chain of tasks that led to it",
    .help = causes_help,
    .run = causes_run,
    .is_followed = true,
    .documents = { &causes_document },
};
