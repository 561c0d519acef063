/* callers.c - `jsprof callers`, `jsprof callees`: one function and its neighbours.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/neighbours.h"
#include "cli/command.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "cli/threads.h"

enum { CALLERS_LIMIT = 20, CALLERS_OTHERS = 5, CALLERS_LIKE = 5 };

#define CALLERS_HELP \
    "FUNCTION is a whole name, or one without its (file:line) or (arguments).\n" \
    "\n" \
    "  --limit N         so many neighbours at most; 0 is all (default 20)\n" \
    CLI_ROWS_HELP \
    "\n" \
    CLI_FILTER_HELP \
    "\n" \
    "Each stack counts once: its caller is that of the outermost call on it, its\n" \
    "callee that of the innermost. So the callers add up to the function's total,\n" \
    "and the callees and its self do. Shares are of that total.\n"

static const char callers_help[] =
    "usage: jsprof callers [OPTION]... FUNCTION FILE\n"
    "\n"
    "Who calls a function, then the function itself, then whom it calls the most.\n"
    CALLERS_HELP;

static const char callees_help[] =
    "usage: jsprof callees [OPTION]... FUNCTION FILE\n"
    "\n"
    "Who calls a function the most, then the function itself, then whom it calls.\n"
    CALLERS_HELP;

struct callers {
    struct cli_capture capture;
    struct cli_filter filter;
    struct cli_rows_wish wish;
    struct jsp_neighbours n;
    uint32_t callers_limit, callees_limit;
    const char *command, *name;
};

static double callers_share(uint64_t value, uint64_t all)
{
    return all ? (double)value / (double)all : 0;
}

static struct cli_span callers_name(const struct callers *c, uint32_t function)
{
    return cli_span(function == UINT32_MAX ? "(nobody: outermost)"
                                           : c->capture.profile.functions[function].name);
}

static void callers_line(const struct callers *c, const struct jsp_neighbour *one)
{
    const struct cli_style *s = &c->capture.style;
    const struct jsp_profile *p = &c->capture.profile;
    char text[CLI_NUMBER], module[CLI_PLACE] = "";
    double share = callers_share(one->value, c->n.total);
    if (one->function != UINT32_MAX)
        cli_native_module(module, &c->capture, &p->functions[one->function]);
    printf("%8s", cli_percent(text, share));
    printf("%10s%10s    ", cli_value(text, p, one->value), "");
    int room = s->columns ? s->columns - 32 - (int)strlen(module) : 0;
    cli_name(s, callers_name(c, one->function), room);
    cli_colour(s, CLI_DIM);
    fputs(module, stdout);
    cli_colour(s, CLI_PLAIN);
    putchar('\n');
}

static void callers_part(const struct callers *c, const struct jsp_neighbour *list,
                         uint32_t n, uint32_t limit)
{
    uint64_t rest = 0;
    char text[CLI_NUMBER];
    for (uint32_t i = 0; i < n; i++)
        if (limit == 0 || i < limit)
            callers_line(c, &list[i]);
        else
            rest += list[i].value;
    if (limit == 0 || n <= limit)
        return;
    cli_colour(&c->capture.style, CLI_DIM);
    printf("%8s", cli_percent(text, callers_share(rest, c->n.total)));
    printf("%10s%10s    ", cli_value(text, &c->capture.profile, rest), "");
    printf("(%u more)", n - limit);
    cli_colour(&c->capture.style, CLI_PLAIN);
    putchar('\n');
}

static void callers_itself(const struct callers *c)
{
    const struct cli_style *s = &c->capture.style;
    const struct jsp_profile *p = &c->capture.profile;
    char text[CLI_NUMBER];
    cli_colour(s, CLI_BOLD);
    printf("%8s", cli_percent(text, callers_share(c->n.total, c->n.value)));
    printf("%10s", cli_value(text, p, c->n.total));
    printf("%10s  ", cli_value(text, p, c->n.self));
    cli_name(s, callers_name(c, c->n.function), s->columns ? s->columns - 30 : 0);
    cli_colour(s, CLI_PLAIN);
    if (c->n.n_of_name > 1)
        printf(" (and %u more of that name)", c->n.n_of_name - 1);
    putchar('\n');
}

static void callers_print(const struct callers *c)
{
    const struct cli_style *s = &c->capture.style;
    cli_heading(&c->capture);
    cli_colour(s, CLI_DIM);
    bool is_wide = s->columns == 0 || s->columns >= 80;
    printf("%8s%10s%10s  FUNCTION%s\n", "SHARE", cli_unit_head(&c->capture.profile), "SELF",
           is_wide ? " AND ITS CALLERS (above), CALLEES (below)" : "");
    cli_colour(s, CLI_PLAIN);
    callers_part(c, c->n.callers, c->n.n_callers, c->callers_limit);
    callers_itself(c);
    callers_part(c, c->n.callees, c->n.n_callees, c->callees_limit);
    cli_closing(&c->capture, c->n.samples, c->n.value);
}

static void callers_row(const struct callers *c, struct cli_rows *rows, const char *part,
                        const struct jsp_neighbour *one)
{
    const struct jsp_function *f = one->function == UINT32_MAX
                                       ? NULL
                                       : &c->capture.profile.functions[one->function];
    cli_rows_word(rows, part);
    if (f)
        cli_rows_text(rows, cli_span(f->name));
    else
        cli_rows_none(rows);
    cli_rows_text(rows, cli_span(f ? f->module : ""));
    cli_rows_u64(rows, one->value);
    cli_rows_u64(rows, one->samples);
}

static int callers_rows(const struct callers *c)
{
    static const char *const columns[] = { "part",  "function", "module",
                                           "value", "samples",  NULL };
    struct cli_rows *rows = cli_rows_open(&c->wish, &c->capture, c->command, columns);
    const struct jsp_neighbours *n = &c->n;
    struct jsp_neighbour total = { n->function, n->total, n->total_samples };
    struct jsp_neighbour self = { n->function, n->self, n->self_samples };
    if (!rows)
        return CLI_FAILED;
    for (uint32_t i = 0; i < n->n_callers; i++)
        if (c->callers_limit == 0 || i < c->callers_limit)
            callers_row(c, rows, "caller", &n->callers[i]);
    callers_row(c, rows, "total", &total);
    callers_row(c, rows, "self", &self);
    for (uint32_t i = 0; i < n->n_callees; i++)
        if (c->callees_limit == 0 || i < c->callees_limit)
            callers_row(c, rows, "callee", &n->callees[i]);
    return cli_rows_close(rows);
}

/* Names that hold the word, whatever its case. */
static int callers_none(const struct callers *c)
{
    const struct jsp_profile *p = &c->capture.profile;
    char list[512] = "";
    int shown = 0;
    for (uint32_t i = 0; i < p->n_functions && shown < CALLERS_LIKE; i++) {
        if (!*c->name || !strcasestr(p->functions[i].name, c->name))
            continue;
        char *clean = cli_clean(&c->capture.style, cli_span(p->functions[i].name));
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", shown++ ? ", " : "",
                 clean ? clean : "?");
        free(clean);
    }
    char *name = cli_clean(&c->capture.style, cli_span(c->name));
    int status = cli_fail(c->capture.label, "no function \"%s\"%s%s%s", name ? name : "",
                          shown ? " (there are: " : "", list, shown ? ")" : "");
    free(name);
    return status;
}

static int callers_show(struct callers *c)
{
    int err =
        jsp_neighbours_build(&c->n, &c->capture.profile, &c->capture.select, c->name);
    if (err < 0)
        return cli_fail(c->capture.label, "%s", strerror(-err));
    cli_native_complain(&c->capture);
    if (c->n.samples == 0)
        return cli_no_samples(&c->capture);
    if (c->n.total_samples == 0)
        return callers_none(c);
    if (cli_rows_wanted(&c->wish))
        return callers_rows(c);
    callers_print(c);
    return CLI_OK;
}

static int callers_run(struct cli_arguments *a)
{
    struct callers c = { .command = a->command };
    bool is_callers = strcmp(a->command, "callers") == 0;
    uint32_t limit = UINT32_MAX;
    const struct cli_option options[] = { { "limit", NULL, NULL, &limit },
                                          CLI_ROWS_OPTIONS(&c.wish),
                                          CLI_FILTER_OPTIONS(&c.filter),
                                          { 0 } };
    if (cli_options(a, options) || cli_rows_check(a->command, &c.wish))
        return CLI_USAGE;
    if (a->n_files != 2)
        return cli_usage(a->command, "a function and a capture are wanted");
    bool is_given = limit != UINT32_MAX, is_rows = cli_rows_wanted(&c.wish);
    uint32_t many = is_given ? limit : is_rows ? 0 : CALLERS_LIMIT;
    uint32_t few = is_given || is_rows ? many : CALLERS_OTHERS;
    c.callers_limit = is_callers ? many : few;
    c.callees_limit = is_callers ? few : many;
    int file = cli_which_file(a->files, 1);
    c.name = a->files[!file];
    int status = cli_filter_open(&c.capture, a->files[file], &c.filter, a->command);
    if (status)
        return status;
    status = callers_show(&c);
    jsp_neighbours_free(&c.n);
    cli_close(&c.capture);
    return status;
}

const struct cli_command cli_callers = {
    .name = "callers",
    .summary = "one function: who calls it, and whom it calls",
    .help = callers_help,
    .run = callers_run,
};

const struct cli_command cli_callees = {
    .name = "callees",
    .summary = "one function: whom it calls, and who calls it",
    .help = callees_help,
    .run = callers_run,
};
