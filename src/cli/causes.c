/* cli/causes.c - `jsprof causes`: who scheduled a task.
 *
 * SPDX-License-Identifier: MIT
 */
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
    "once, with a count. Tasks that another task than their maker made ready, such as\n"
    "a promise, say which, and of how many runs. `jsprof loop` lists the tasks.\n";

struct causes {
    struct cli_capture capture;
    struct cli_filter filter;
    struct cli_form form;
    jsprof_read_chains *chains;
    struct cli_head head;
    const char *which;
    uint32_t limit;
    bool has_stacks, is_dot;
};

struct causes_row {
    jsprof_read_chain chain;
    jsprof_read_link link;
    uint64_t number, level;
    const char *stack; /* leaf first, with ";" between them */
    const char *ready, *ready_runs; /* likewise */
};

/* -- Text --------------------------------------------------------------------- */

/* Print the stack on which the link's tasks were made: all, or a few functions of the VM. */
static void causes_stack(const struct causes *c, uint64_t chain, uint64_t link)
{
    const struct cli_style *s = &c->capture.style;
    char *stack = cli_task_stack(&(struct cli_task_stack){
        .chains = c->chains, .chain = chain, .link = link,
        .between = s->is_utf8 ? " ← " : " < ", .is_vm = !c->has_stacks,
        .most = c->has_stacks ? 0 : CAUSES_FRAMES });
    if (stack && *stack) {
        cli_colour(s, CLI_DIM);
        fputs("     made in ", stdout);
        cli_name(s, cli_span(stack), c->has_stacks || !s->columns ? 0 : s->columns - 13);
        cli_colour(s, CLI_PLAIN);
        putchar('\n');
    }
    free(stack);
}

/* Name the tasks that made those of a chain ready, if their makers did not. */
static void causes_ready(const struct causes *c, uint64_t number, uint64_t runs)
{
    const struct cli_style *s = &c->capture.style;
    jsprof_read_ready by = { .size = sizeof by };
    int64_t all = jsprof_read_ready_by(c->chains, number, 0, NULL, 0), got = all;
    int64_t n = c->limit && c->limit < all ? c->limit : all;
    for (int64_t i = 0; i < n && got >= 0; i++) {
        char times[CLI_NUMBER];
        got = jsprof_read_ready_by(c->chains, number, (uint64_t)i, &by, 1);
        if (got != 1)
            break;
        fputs("     made ready by ", stdout);
        cli_task_name(s, by.kind, by.name);
        if (by.runs < runs)
            printf(", %s run%s", cli_count(times, by.runs), cli_s(by.runs));
        putchar('\n');
    }
    if (n < all)
        printf("     and by %" PRId64 " more (--limit 0 shows them)\n", all - n);
    cli_incomplete(got < 0);
}

static void causes_links(const struct causes *c, uint64_t number, const jsprof_read_chain *chain)
{
    const struct cli_style *s = &c->capture.style;
    jsprof_read_link link = { .size = sizeof link };
    int64_t got = 1;
    for (uint32_t i = 0; i < chain->n_links; i++) {
        if ((got = jsprof_read_links(c->chains, number, i, &link, 1)) != 1)
            break;
        fputs(i ? "  by " : "  ", stdout);
        cli_colour(s, i ? CLI_PLAIN : CLI_BOLD);
        cli_task_name(s, link.kind, link.name);
        cli_colour(s, CLI_PLAIN);
        if (link.times > 1)
            printf(", up to %" PRIu32 " times in a row", link.times);
        putchar('\n');
        causes_stack(c, number, i);
        if (i == 0)
            causes_ready(c, number, chain->runs);
    }
    cli_incomplete(got < 0);
}

static void causes_chain(const struct causes *c, uint64_t number)
{
    jsprof_read_chain chain = { .size = sizeof chain };
    char tasks[CLI_NUMBER], runs[CLI_NUMBER], total[CLI_NUMBER], delay[CLI_NUMBER];
    if (cli_incomplete(jsprof_read_chain_rows(c->chains, number, &chain, 1) < 0))
        return;
    printf("%s task%s, %s run%s of %s", cli_count(tasks, chain.tasks), cli_s(chain.tasks),
           cli_count(runs, chain.runs), cli_s(chain.runs),
           cli_exact_duration(total, chain.total > 0 ? (uint64_t)chain.total : 0));
    if (chain.delay >= 0)
        printf(", delayed by at most %s", cli_exact_duration(delay, (uint64_t)chain.delay));
    putchar('\n');
    causes_links(c, number, &chain);
    puts(chain.is_cut ? "  by more tasks, which are not shown\n"
                      : "  by no task: the program itself, or one that is not in the capture\n");
}

/* -- Programs ------------------------------------------------------------------ */

static struct cli_cell causes_delay(CLI_OF_ROW)
{
    int64_t delay = ((const struct causes_row *)row)->chain.delay;
    return delay < 0 ? cli_cell_none() : cli_cell_real((double)delay);
}

#define CAUSES_FIELD(field) .offset = offsetof(struct causes_row, field)

static const struct cli_column causes_columns[] = {
    { .name = "chain", .type = CLI_TYPE_COUNT, .get = cli_get_u64, CAUSES_FIELD(number),
      .means = "The number of the chain, from 1." },
    { .name = "level", .type = CLI_TYPE_COUNT, .get = cli_get_u64, CAUSES_FIELD(level),
      .means = "0 for the task itself, 1 for its maker, and so on." },
    { .name = "kind", .type = CLI_TYPE_TEXT, .get = cli_get_string, CAUSES_FIELD(link.kind),
      .means = "What the task is, as the host calls it." },
    { .name = "name", .type = CLI_TYPE_TEXT, .get = cli_get_string, CAUSES_FIELD(link.name),
      .means = "Its name." },
    { .name = "times", .type = CLI_TYPE_COUNT, .get = cli_get_u32, CAUSES_FIELD(link.times),
      .means = "How often the link repeats itself at most." },
    { .name = "stack", .type = CLI_TYPE_TEXT, .get = cli_get_string, CAUSES_FIELD(stack),
      .means = "The functions on whose stack it was made, the innermost first, joined by ;." },
    { .name = "tasks", .type = CLI_TYPE_COUNT, .get = cli_get_u64, CAUSES_FIELD(chain.tasks),
      .means = "How many tasks have this chain." },
    { .name = "runs", .type = CLI_TYPE_COUNT, .get = cli_get_u64, CAUSES_FIELD(chain.runs),
      .means = "How many times these tasks ran." },
    { .name = "total_ns", .type = CLI_TYPE_REAL, .get = cli_get_real, CAUSES_FIELD(chain.total),
      .means = "The sum of these runs, in nanoseconds." },
    { .name = "delay_max_ns", .type = CLI_TYPE_REAL, .get = causes_delay, .may_lack = true,
      .means = "Their longest delay in nanoseconds; null: none is known." },
    { .name = "is_cut", .type = CLI_TYPE_BOOL, .get = cli_get_bool, CAUSES_FIELD(chain.is_cut),
      .means = "The chain goes on, but is not shown to its end." },
    { .name = "ready", .type = CLI_TYPE_TEXT, .get = cli_get_string, CAUSES_FIELD(ready),
      .means = "Of level 0: what made runs ready, if not the maker; joined by ;." },
    { .name = "ready_runs", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      CAUSES_FIELD(ready_runs), .means = "How many runs each of these made ready, joined by ;." },
    { 0 }
};

static const struct cli_document causes_document = {
    .means = "Who scheduled a task: chains of the tasks that made it.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "The links of all chains.",
                 .columns = causes_columns } },
};

/* Return the names of what made a chain ready, or their numbers of runs, joined. The caller frees
 * it. NULL: no memory. */
static char *causes_ready_text(const struct causes *c, uint64_t number, bool is_runs)
{
    jsprof_read_ready by = { .size = sizeof by };
    char *text = NULL;
    size_t len = 0;
    int64_t got = 1;
    FILE *out = open_memstream(&text, &len);
    for (uint64_t i = 0; out && got == 1; i++) {
        got = jsprof_read_ready_by(c->chains, number, i, &by, 1);
        if (got == 1 && is_runs)
            fprintf(out, "%s%" PRIu64, i ? ";" : "", by.runs);
        else if (got == 1)
            fprintf(out, "%s%s%s%s", i ? ";" : "", by.kind, *by.kind && *by.name ? " " : "",
                    by.name);
    }
    if (out && fclose(out) == 0 && got >= 0)
        return text;
    free(text);
    return NULL;
}

/* Put the links of a chain into the table. Return 0 or -ENOMEM. */
static int causes_chain_rows(const struct causes *c, struct cli_table *t, uint64_t number)
{
    struct causes_row row = { .chain.size = sizeof row.chain, .link.size = sizeof row.link,
                              .number = number + 1 };
    int64_t got = jsprof_read_chain_rows(c->chains, number, &row.chain, 1);
    char *names = causes_ready_text(c, number, false), *runs = causes_ready_text(c, number, true);
    if (!names || !runs)
        got = -ENOMEM;
    for (uint32_t i = 0; got == 1 && i < row.chain.n_links; i++) {
        got = jsprof_read_links(c->chains, number, i, &row.link, 1);
        char *stack = cli_task_stack(&(struct cli_task_stack){
            .chains = c->chains, .chain = number, .link = i, .between = ";" });
        row.level = i;
        row.stack = stack ? stack : "";
        row.ready = i ? "" : names;
        row.ready_runs = i ? "" : runs;
        if (got == 1)
            cli_table_row(t, &row);
        free(stack);
    }
    free(names);
    free(runs);
    return got < 0 ? -ENOMEM : 0;
}

static int causes_rows(struct causes *c, uint64_t n)
{
    int err = 0;
    if (cli_head_of(&c->head, &c->capture))
        return CLI_FAILED;
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = &c->form, .command = "causes", .columns = causes_columns,
        .document = &causes_document, .head = &c->head, .of = c, .capture = &c->capture });
    for (uint64_t i = 0; t && err == 0 && i < n; i++)
        err = causes_chain_rows(c, t, i);
    cli_incomplete(err < 0);
    return cli_table_close(t);
}

/* Add a chain to the graph, which has room for it. Return 0 or -ENOMEM. */
static int causes_dot_chain(const struct causes *c, uint64_t number, struct jsp_dot_box *boxes,
                            struct jsp_dot_graph *graph)
{
    jsprof_read_chain chain = { .size = sizeof chain };
    jsprof_read_link link = { .size = sizeof link };
    jsprof_read_ready by = { .size = sizeof by };
    int64_t got = jsprof_read_chain_rows(c->chains, number, &chain, 1);
    uint32_t what = 0;
    for (uint32_t i = 0, below = 0; got == 1 && i < chain.n_links; i++, below = link.what) {
        got = jsprof_read_links(c->chains, number, i, &link, 1);
        if (got != 1)
            break;
        boxes[link.what].is_shown = true;
        if (i)
            graph->edges[graph->n_edges++] =
                (struct jsp_dot_edge){ link.what, below, chain.tasks, false };
        what = i ? what : link.what;
    }
    for (uint64_t i = 0; got == 1; i++) {
        got = jsprof_read_ready_by(c->chains, number, i, &by, 1);
        if (got != 1)
            break;
        boxes[by.what].is_shown = true;
        graph->edges[graph->n_edges++] = (struct jsp_dot_edge){ by.what, what, by.runs, true };
    }
    return got < 0 ? -ENOMEM : 0;
}

static struct jsp_dot_text causes_text(const char *text)
{
    return (struct jsp_dot_text){ text, strlen(text) };
}

/* Draw a box for each kind and name, and arrows with the number of tasks that were made so. */
static int causes_dot(const struct causes *c, uint64_t n)
{
    static struct jsp_sink out; /* its block is large */
    jsprof_read_task_kind kind = { .size = sizeof kind };
    jsprof_read_chain chain = { .size = sizeof chain };
    uint64_t n_edges = 0, n_kinds = (uint64_t)jsprof_read_task_kinds(c->chains, 0, NULL, 0);
    int64_t got = 1;
    for (uint64_t i = 0; i < n && got == 1; i++) {
        got = jsprof_read_chain_rows(c->chains, i, &chain, 1);
        n_edges += chain.n_links + (uint64_t)jsprof_read_ready_by(c->chains, i, 0, NULL, 0);
    }
    struct jsp_dot_box *boxes = calloc(n_kinds + 1, sizeof *boxes);
    struct jsp_dot_graph graph = { boxes, malloc((n_edges + 1) * sizeof *graph.edges),
                                   (uint32_t)n_kinds, 0 };
    int err = boxes && graph.edges && got >= 0 ? 0 : -ENOMEM;
    for (uint64_t i = 0; err == 0 && i < n_kinds; i++) {
        if (jsprof_read_task_kinds(c->chains, i, &kind, 1) != 1)
            err = -ENOMEM;
        else
            boxes[i] = (struct jsp_dot_box){ causes_text(kind.kind), causes_text(kind.name),
                                             kind.tasks, kind.runs, kind.total, false };
    }
    for (uint64_t i = 0; err == 0 && i < n; i++)
        err = causes_dot_chain(c, i, boxes, &graph);
    jsp_sink_init(&out, cli_table_write, NULL);
    if (err == 0)
        err = jsp_dot_write(&out, &graph);
    cli_incomplete(err < 0);
    jsp_sink_flush(&out);
    free(boxes);
    free(graph.edges);
    return CLI_OK;
}

/* -- The command --------------------------------------------------------------- */

static int causes_print(struct causes *c)
{
    uint64_t all = (uint64_t)jsprof_read_chain_rows(c->chains, 0, NULL, 0);
    uint64_t n = c->limit && c->limit < all ? c->limit : all;
    if (c->is_dot)
        return causes_dot(c, n);
    if (!cli_form_is_text(&c->form))
        return causes_rows(c, n);
    for (uint64_t i = 0; i < n; i++)
        causes_chain(c, i);
    if (n < all)
        printf("%" PRIu64 " more chain%s (--limit 0 shows them)\n", all - n, cli_s(all - n));
    return CLI_OK;
}

static int causes_show(struct causes *c)
{
    jsprof_read_error error = { .size = sizeof error };
    bool is_short = cli_form_is_text(&c->form) && !c->is_dot && !c->has_stacks;
    const jsprof_read_alike alike = { .size = sizeof alike, .is_vm = is_short,
                                      .most = is_short ? CAUSES_FRAMES : 0 };
    int err = jsprof_read_chains_open(&c->chains, c->capture.reader, c->which, &alike, &error);
    if (!err)
        return causes_print(c);
    return err == -ENOENT ? cli_fail(c->capture.label, "%s (jsprof loop shows the tasks)",
                                     error.message)
                          : cli_refuse(&c->capture, &error, "causes");
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
    jsprof_read_chains_close(c.chains);
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
