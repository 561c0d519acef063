/* cli/callers.c - `jsprof callers`, `jsprof callees`: one function and its neighbours.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "filter.h"
#include "head.h"
#include "threads.h"

enum { CALLERS_LIMIT = 20, CALLERS_OTHERS = 5, CALLERS_LIKE = 5 };

#define CALLERS_HELP \
    "FUNCTION is a name, with or without its (file:line) or (arguments).\n" \
    "\n" \
    "  --limit N         show at most N neighbours; 0 is all (default 20)\n" \
    CLI_FORM_FOLLOW_HELP \
    "\n" \
    CLI_FILTER_HELP \
    "\n" \
    "Each stack counts once, also under recursion: under the caller of the function's\n" \
    "outermost frame, and under the callee of its innermost frame. So the callers add\n" \
    "up to the function's total time, and so do the callees plus its self time. All\n" \
    "shares are shares of that total.\n"

static const char callers_help[] =
    "usage: jsprof callers [OPTION]... FILE FUNCTION\n"
    "\n"
    "Shows the callers of a function, then the function, then its largest callees.\n"
    CALLERS_HELP;

static const char callees_help[] =
    "usage: jsprof callees [OPTION]... FILE FUNCTION\n"
    "\n"
    "Shows the largest callers of a function, then the function, then its callees.\n"
    CALLERS_HELP;

struct callers {
    struct cli_capture capture;
    struct cli_filter filter;
    struct cli_form form;
    jsprof_read_neighbours *neighbours;
    jsprof_read_centre n;
    uint32_t callers_limit, callees_limit;
    const char *command, *name;
};

/* A line of text, or a row for programs. Text prints total and self of the function in one
 * line, and sums up in one line the neighbours beyond the limit. */
struct callers_row {
    const char *part;
    const char *function; /* its name; NULL: nobody */
    const char *module;
    uint64_t value, samples;
    uint64_t self;     /* only for the function itself */
    uint32_t n_hidden; /* neighbours that the line sums up */
    bool is_itself;
};

/* -- Columns ---------------------------------------------------------------- */

static enum cli_colour callers_colour(const struct callers_row *r)
{
    return r->is_itself ? CLI_BOLD : r->n_hidden ? CLI_DIM : CLI_PLAIN;
}

/* Return the share of the function's total. The function's own line has its share of all. */
static struct cli_cell callers_share(CLI_OF_ROW)
{
    const struct callers *l = of;
    const struct callers_row *r = row;
    uint64_t all = r->is_itself ? l->n.value : l->n.total;
    struct cli_cell cell = cli_cell_real(all ? (double)r->value / (double)all : 0);
    cell.colour = callers_colour(r);
    return cell;
}

static struct cli_cell callers_value(CLI_OF_ROW)
{
    struct cli_cell cell = cli_get_u64(c, of, row);
    cell.colour = callers_colour(row);
    return cell;
}

static struct cli_cell callers_self(CLI_OF_ROW)
{
    const struct callers_row *r = row;
    struct cli_cell cell = callers_value(c, of, row);
    cell.is_blank = !r->is_itself;
    return cell;
}

static struct cli_cell callers_name(CLI_OF_ROW)
{
    const struct callers_row *r = row;
    return r->function ? cli_cell_string(r->function) : cli_cell_none();
}

static void callers_draw(const struct cli_table *t, const void *row, int room)
{
    const struct callers *l = cli_table_of(t);
    const struct callers_row *r = row;
    const struct cli_style *s = &l->capture.style;
    char module[CLI_PLACE] = "";
    if (r->is_itself) {
        cli_colour(s, CLI_BOLD);
        cli_name(s, cli_span(r->function), room);
        cli_colour(s, CLI_PLAIN);
        if (l->n.n_functions > 1)
            printf(" (and %u more of that name)", l->n.n_functions - 1);
        return;
    }
    fputs("  ", stdout);
    if (r->n_hidden) {
        cli_colour(s, CLI_DIM);
        printf("(%u more)", r->n_hidden);
        cli_colour(s, CLI_PLAIN);
        return;
    }
    if (r->function)
        cli_native_module(module, &l->capture, r->function, r->module);
    cli_name(s, cli_span(r->function ? r->function : "(nobody: outermost)"),
             room ? room - 2 - (int)strlen(module) : 0);
    cli_colour(s, CLI_DIM);
    fputs(module, stdout);
    cli_colour(s, CLI_PLAIN);
}

static const char *callers_heading(const struct cli_table *t)
{
    int columns = cli_table_style(t)->columns;
    return columns == 0 || columns >= 80 ? "FUNCTION AND ITS CALLERS (above), CALLEES (below)"
                                         : "FUNCTION";
}

#define CALLERS_FIELD(field) .offset = offsetof(struct callers_row, field)

static const char *const callers_parts[] = { "caller", "total", "self", "callee", NULL };

static const struct cli_column callers_columns[] = {
    { .name = "part", .type = CLI_TYPE_WORD, .get = cli_get_string, CALLERS_FIELD(part),
      .words = callers_parts,
      .means = "A caller, a callee, or total and self of the function that was asked for." },
    { .name = "function", .head = "FUNCTION", .type = CLI_TYPE_TEXT, .get = callers_name,
      .heading = callers_heading, .draw = callers_draw, .place = 40, .may_lack = true,
      .means = "The name of the function; null where nobody called it." },
    { .name = "module", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      CALLERS_FIELD(module),
      .means = "The file of native code; empty where there is none." },
    { .head = "SHARE", .type = CLI_TYPE_SHARE, .get = callers_share, .place = 10, .width = 8 },
    { .name = "value", .head = "TIME", .heading = cli_table_unit, .type = CLI_TYPE_VALUE,
      .get = callers_value, CALLERS_FIELD(value), .place = 20, .width = 10,
      .means = "What was spent there." },
    { .head = "SELF", .type = CLI_TYPE_VALUE, .get = callers_self, CALLERS_FIELD(self),
      .place = 30, .width = 10 },
    { .name = "samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64, CALLERS_FIELD(samples),
      .means = "Samples of this value." },
    { 0 }
};

static const struct cli_document callers_document = {
    .means = "One function: its callers, its total and self, its callees.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "The function and its neighbours.",
                 .columns = callers_columns } },
};

/* -- Rows ------------------------------------------------------------------- */

static void callers_part(const struct callers *c, struct cli_table *t, bool is_callers)
{
    int64_t (*rows)(const jsprof_read_neighbours *, uint64_t, jsprof_read_neighbour *, uint64_t) =
        is_callers ? jsprof_read_callers : jsprof_read_callees;
    uint64_t n = (uint64_t)rows(c->neighbours, 0, NULL, 0);
    uint32_t limit = is_callers ? c->callers_limit : c->callees_limit;
    uint64_t shown = limit && limit < n ? limit : n;
    struct callers_row rest = { .module = "", .n_hidden = (uint32_t)(n - shown) };
    jsprof_read_neighbour of = { .size = sizeof of };
    for (uint64_t i = 0; rows(c->neighbours, i, &of, 1) == 1; i++) {
        if (i >= shown)
            rest.value += of.value;
        else
            cli_table_row(t, &(struct callers_row){ .part = is_callers ? "caller" : "callee",
                                                    .function = of.name, .module = of.module,
                                                    .value = of.value, .samples = of.samples });
    }
    if (rest.n_hidden && cli_form_is_text(&c->form))
        cli_table_row(t, &rest);
}

static int callers_print(const struct callers *c)
{
    struct cli_head head = { &c->capture, c->n.samples, c->n.value };
    bool is_text = cli_form_is_text(&c->form);
    if (is_text)
        cli_heading(&head);
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = &c->form, .command = c->command,
        .columns = callers_columns, .document = &callers_document,
        .head = &head, .of = c, .capture = &c->capture });
    if (t) {
        callers_part(c, t, true);
        cli_table_row(t, &(struct callers_row){ .part = "total", .function = c->n.name,
                                                .module = c->n.module, .value = c->n.total,
                                                .self = c->n.self,
                                                .samples = c->n.total_samples,
                                                .is_itself = true });
        if (!is_text)
            cli_table_row(t, &(struct callers_row){ .part = "self", .function = c->n.name,
                                                    .module = c->n.module,
                                                    .value = c->n.self,
                                                    .samples = c->n.self_samples });
        callers_part(c, t, false);
    }
    int status = cli_table_close(t);
    if (is_text)
        cli_closing(&head);
    return status;
}

/* Report that no stack that counts has a function of this name, and list functions whose names
 * contain it in any case. Without any sample that counts, report that. */
static int callers_none(const struct callers *c)
{
    char list[512] = "";
    int shown = 0;
    jsprof_read_functions *functions;
    jsprof_read_function f = { .size = sizeof f };
    jsprof_read_sum sum = { .size = sizeof sum };
    jsprof_read_info info = { .size = sizeof info };
    int err = jsprof_read_functions_open(&functions, c->capture.reader, NULL, NULL);
    if (err < 0)
        return cli_fail(c->capture.label, "%s", strerror(-err));
    jsprof_read_functions_sum(functions, &sum);
    for (uint64_t i = 0; *c->name && shown < CALLERS_LIKE &&
                         jsprof_read_function_rows(functions, i, &f, 1) == 1; i++) {
        if (!strcasestr(f.name, c->name))
            continue;
        char *clean = cli_clean(&c->capture.style, cli_span(f.name));
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", shown++ ? ", " : "",
                 clean ? clean : "?");
        free(clean);
    }
    jsprof_read_functions_close(functions);
    if (sum.samples == 0)
        return cli_no_samples(&c->capture);
    jsprof_read_about(c->capture.reader, &info);
    char *name = cli_clean(&c->capture.style, cli_span(c->name));
    const char *more = info.idle_samples ? "; --idle counts idle time, too" : "";
    int status = cli_fail(c->capture.label, "no function \"%s\"%s%s%s%s", name ? name : "",
                          shown ? " (there are: " : "", list, shown ? ")" : "", more);
    free(name);
    return status;
}

static int callers_show(struct callers *c)
{
    int err = jsprof_read_neighbours_open(&c->neighbours, c->capture.reader, c->name, NULL);
    if (err < 0 && err != -ENOENT)
        return cli_fail(c->capture.label, "%s", strerror(-err));
    cli_native_complain(&c->capture);
    if (err == 0)
        jsprof_read_neighbours_of(c->neighbours, &c->n);
    int status = c->n.total_samples == 0 ? callers_none(c) : callers_print(c);
    jsprof_read_neighbours_close(c->neighbours);
    return status;
}

static int callers_run(struct cli_arguments *a)
{
    struct callers c = { .command = a->command, .n.size = sizeof c.n };
    bool is_callers = strcmp(a->command, "callers") == 0;
    uint32_t limit = UINT32_MAX;
    const struct cli_option options[] = { { "limit", NULL, NULL, &limit },
                                          CLI_FORM_OPTIONS(&c.form),
                                          CLI_FILTER_OPTIONS(&c.filter),
                                          { 0 } };
    if (cli_options(a, options) || cli_form_check(a->command, &c.form))
        return CLI_USAGE;
    if (a->n_files != 2)
        return cli_usage(a->command, "a capture and a function are wanted");
    bool is_given = limit != UINT32_MAX, is_rows = !cli_form_is_text(&c.form);
    uint32_t many = is_given ? limit : is_rows ? 0 : CALLERS_LIMIT;
    uint32_t few = is_given || is_rows ? many : CALLERS_OTHERS;
    c.callers_limit = is_callers ? many : few;
    c.callees_limit = is_callers ? few : many;
    int file = cli_which_file(a->files);
    c.name = a->files[!file];
    int status = cli_filter_open(&c.capture, a->files[file], &c.filter, a->command);
    if (status)
        return status;
    status = callers_show(&c);
    cli_close(&c.capture);
    return status;
}

const struct cli_command cli_callers = {
    .name = "callers",
    .summary = "one function: its callers, and its main callees",
    .help = callers_help,
    .run = callers_run,
    .is_followed = true,
    .documents = { &callers_document },
};

const struct cli_command cli_callees = {
    .name = "callees",
    .summary = "one function: its callees, and its main callers",
    .help = callees_help,
    .run = callers_run,
    .is_followed = true,
    .documents = { &callers_document },
};
