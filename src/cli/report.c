/* cli/report.c - `jsprof report`: functions, or groups of them, by self and total share.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "command.h"
#include "filter.h"
#include "head.h"
#include "hints.h"
#include "markdown.h"
#include "threads.h"

enum { REPORT_LIMIT = 30, REPORT_ROOMY = 60 };

static const char report_help[] =
    "usage: jsprof report [OPTION]... FILE...\n"
    "\n"
    "Lists functions by the time in the function itself (self), and by the time in it\n"
    "and in the functions that it called (total). Several captures count as one.\n"
    "\n"
    "  --by function|category|kind|tier|module|file|line|thread|state|syscall|task\n"
    "  --by label|label:KEY; --sort self|total|samples|name  (default self)\n"
    "  --limit N        show at most N functions; 0 is all (default 30)\n"
    "  --lines          add files and lines of native code, from addr2line\n"
    CLI_FORM_FOLLOW_HELP
    "  --markdown       a summary to paste: functions, categories, hottest path\n"
    "\n"
    CLI_FILTER_HELP
    "\n"
    "The solid part of the bar is self, its whole length is total. The number after a\n"
    "share is its standard error: how much chance alone changes the share.\n";

struct report {
    struct cli_capture capture;
    struct cli_functions functions;
    struct cli_filter filter;
    struct cli_form form;
    const struct report_by *by;
    jsprof_read_order order;
    bool is_markdown;
};

/* What rows are of: the word after --by, the head of the column, and the plural. */
static const struct report_by {
    const char *head, *some;
} report_bys[] = { /* as report_by_words */
    { "FUNCTION", "functions" },
    { "CATEGORY", "categories" },
    { "KIND", "kinds" },
    { "TIER", "tiers" },
    { "MODULE", "modules" },
    { "FILE", "files" },
    { "LINE", "lines" },
    { "THREAD", "threads" },
    { "STATE", "states" },
    { "SYSTEM CALL", "system calls" },
    { "TASK", "tasks" },
    { "LABEL", "labels" },
};
static const char *const report_by_words[] = { "function", "category", "kind", "tier",
                                               "module", "file", "line", "thread",
                                               "state", "syscall", "task", "label", NULL };

static double report_share(const struct report *r, uint64_t value)
{
    return cli_functions_share(&r->functions, value);
}

/* Return one standard error of a share. It is binomial, over the number of independent
 * samples that equals the weighted ones. */
static double report_error(const struct report *r, double share)
{
    const jsprof_read_info *info = &r->capture.info;
    double samples = (double)r->functions.sum.samples;
    double n = info->samples ? info->effective * samples / (double)info->samples : 0;
    return n > 0 && share > 0 ? sqrt(share * (1 - share) / n) : 0;
}

/* -- Columns ---------------------------------------------------------------- */

static bool report_has_groups(const struct report *r)
{
    return r->by != report_bys;
}

/* Of a function that never ran itself, text leaves the figures of self blank. */
static struct cli_cell report_self(CLI_OF_ROW)
{
    const jsprof_read_function *f = row;
    struct cli_cell cell = cli_get_u64(c, of, row);
    cell.is_blank = f->self_samples == 0;
    return cell;
}

static struct cli_cell report_self_share(CLI_OF_ROW)
{
    const jsprof_read_function *f = row;
    struct cli_cell cell = cli_cell_real(report_share(of, f->self));
    cell.is_blank = f->self_samples == 0;
    cell.colour = cli_heat(cell.real);
    return cell;
}

static struct cli_cell report_self_error(CLI_OF_ROW)
{
    struct cli_cell cell = report_self_share(c, of, row);
    cell.real = report_error(of, cell.real);
    cell.colour = CLI_DIM;
    snprintf(cell.shown, sizeof cell.shown, "%.1f", 100 * cell.real);
    return cell;
}

static struct cli_cell report_total_share(CLI_OF_ROW)
{
    const jsprof_read_function *f = row;
    return cli_cell_real(report_share(of, f->total));
}

static struct cli_cell report_bar(CLI_OF_ROW)
{
    const jsprof_read_function *f = row;
    return (struct cli_cell){ .bar = { report_share(of, f->self), report_share(of, f->total) } };
}

static struct cli_cell report_kind(CLI_OF_ROW)
{
    struct cli_cell cell = cli_get_string(c, of, row);
    cell.colour = CLI_KIND;
    return cell;
}

static bool report_has_lines(const void *of)
{
    return ((const struct report *)of)->filter.native.has_lines;
}

/* Where values are samples, a column of samples repeats them. */
static bool report_is_timed(const void *of)
{
    return strcmp(((const struct report *)of)->capture.info.unit, "samples") != 0;
}

/* Print the name, then its module and its hottest line where they are known and fit. */
static void report_draw(const struct cli_table *t, const void *row, int room)
{
    const struct report *r = cli_table_of(t);
    const jsprof_read_function *f = row;
    const struct cli_style *s = &r->capture.style;
    char line[CLI_PLACE + CLI_NUMBER] = "", module[CLI_PLACE] = "", place[CLI_PLACE];
    bool is_roomy = s->columns == 0 || s->columns >= REPORT_ROOMY;
    cli_native_place(place, &r->capture, (struct cli_line){ f->file, f->line });
    if (f->line && f->self && is_roomy)
        snprintf(line, sizeof line, " %s %.0f%%", place,
                 100 * (double)f->line_value / (double)f->self);
    if (is_roomy)
        cli_native_module(module, &r->capture, f->name, f->module);
    cli_name(s, cli_span(f->name),
             room ? room - (int)strlen(line) - (int)strlen(module) : 0);
    cli_colour(s, CLI_DIM);
    fputs(module, stdout);
    fputs(line, stdout);
    cli_colour(s, CLI_PLAIN);
}

static const char *report_group_heading(const struct cli_table *t)
{
    return ((const struct report *)cli_table_of(t))->by->head;
}

#define REPORT_FIELD(field) .offset = offsetof(jsprof_read_function, field)

#define REPORT_FIGURES(SELF, TOTAL)                                                        \
    { .head = "SELF", .type = CLI_TYPE_SHARE, .get = report_self_share, .place = 10,        \
      .width = 7 },                                                                        \
    { .head = "±", .type = CLI_TYPE_REAL, .get = report_self_error, .place = 20,            \
      .width = 5, .minimum = 90 },                                                         \
    { .name = "self", .head = "TIME", .heading = cli_table_unit, .type = CLI_TYPE_VALUE,    \
      .get = report_self, REPORT_FIELD(self), .place = 30, .width = 10, .minimum = 50,      \
      .means = "What was spent in " SELF "." },                                            \
    { .head = "TOTAL", .type = CLI_TYPE_SHARE, .get = report_total_share, .place = 50,      \
      .width = 8 },                                                                        \
    { .name = "total", .head = "TIME", .heading = cli_table_unit, .type = CLI_TYPE_VALUE,   \
      .get = cli_get_u64, REPORT_FIELD(total), .place = 60, .width = 10, .minimum = 120,    \
      .means = "What was spent in " TOTAL "." },                                           \
    { .name = "self_samples", .head = "SAMPLES", .type = CLI_TYPE_COUNT,                    \
      .get = report_self, REPORT_FIELD(self_samples), .place = 40, .width = 9,              \
      .minimum = 100, .fits = report_is_timed, .means = "Samples in " SELF "." },          \
    { .name = "total_samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64,                  \
      REPORT_FIELD(total_samples), .means = "Samples in " TOTAL "." },                     \
    { .head = "", .type = CLI_TYPE_BAR, .get = report_bar, .place = 70, .width = -1,        \
      .minimum = 72 }

static const struct cli_column report_columns[] = {
    { .name = "function", .head = "FUNCTION", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      REPORT_FIELD(name), .draw = report_draw, .place = 90, .means = "The name of the function." },
    { .name = "kind", .head = "KIND", .type = CLI_TYPE_WORD, .get = report_kind,
      REPORT_FIELD(kind),
      .words = cli_kinds, .place = 80, .width = -8, .minimum = REPORT_ROOMY,
      .means = "What the function is: most of its frames were of this kind." },
    REPORT_FIGURES("the function itself", "the function and in what it called"),
    { .name = "module", .type = CLI_TYPE_TEXT, .get = cli_get_string, REPORT_FIELD(module),
      .when = report_has_lines,
      .means = "The file of native code; empty where there is none." },
    { .name = "file", .type = CLI_TYPE_TEXT, .get = cli_get_string, REPORT_FIELD(file),
      .when = report_has_lines,
      .means = "The source file of the hottest line; empty where the name has it." },
    { .name = "line", .type = CLI_TYPE_COUNT, .get = cli_get_u32, REPORT_FIELD(line),
      .when = report_has_lines,
      .means = "The line where most of self was; 0: not known." },
    { 0 }
};

static const struct cli_document report_document = {
    .means = "Functions by the time spent in them.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "The functions.", .columns = report_columns } },
};

static const struct cli_column report_group_columns[] = {
    { .name = "group", .head = "GROUP", .heading = report_group_heading, .type = CLI_TYPE_TEXT,
      .get = cli_get_string, REPORT_FIELD(name), .place = 90,
      .means = "The category, as in CATEGORIES of jsprof(1); or the kind, and so on." },
    REPORT_FIGURES("frames of the group itself", "stacks that have such a frame"),
    { 0 }
};

static const struct cli_document report_group_document = {
    .means = "Groups of functions by the time spent in them; with --by.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "The groups.", .columns = report_group_columns } },
};

/* Print what the user can do about stacks that were cut. */
static void report_cuts(const struct report *r)
{
    static const struct {
        const char *name, *advice;
    } cuts[] = {
        { "[deeper frames cut]",
          "calls were deeper than the host's array of frames; a larger one names them" },
        { "[frames cut]", "of stacks deeper than max_depth the middle is not shown" },
        { "[C frames cut]", "of C stacks deeper than max_depth the middle is not shown" },
    };
    char share[CLI_NUMBER];
    if (r->capture.info.lacks_proc)
        puts(CLI_NO_PROC ".");
    for (uint64_t i = 0; i < r->functions.n && !report_has_groups(r); i++) {
        const jsprof_read_function *f = &r->functions.rows[i];
        bool is_ours = strcmp(f->kind, "synth") == 0;
        for (size_t c = 0; is_ours && c < sizeof cuts / sizeof *cuts; c++)
            if (strcmp(f->name, cuts[c].name) == 0)
                printf("%s (%s of the %s): %s.\n", f->name,
                       cli_percent(share, report_share(r, f->total)),
                       cli_unit_noun(&r->capture), cuts[c].advice);
    }
}

static struct cli_head report_head(const struct report *r)
{
    return (struct cli_head){ &r->capture, r->functions.sum.samples,
                              r->functions.sum.value };
}

static int report_rows(const struct report *r, uint32_t limit)
{
    struct cli_head head = report_head(r);
    bool has_groups = report_has_groups(r);
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = &r->form, .command = "report",
        .columns = has_groups ? report_group_columns : report_columns,
        .document = has_groups ? &report_group_document : &report_document,
        .head = &head, .of = r, .capture = &r->capture });
    for (uint64_t i = 0; t && i < r->functions.n && (limit == 0 || i < limit); i++)
        cli_table_row(t, &r->functions.rows[i]);
    return cli_table_close(t);
}

/* Print what to look at, which needs rows of functions. CLI_OK, or CLI_FAILED, which is
 * reported. */
static int report_hints(struct report *r)
{
    struct cli_hints hints = { .n = 0 };
    if (report_has_groups(r))
        return CLI_OK;
    int status = cli_hints(&hints, &r->capture, &r->functions, false);
    for (int i = 0; i < hints.n; i++)
        cli_wrap(&r->capture.style, strcat(hints.text[i], "."));
    return status;
}

static int report_text(struct report *r, uint32_t limit)
{
    char advice[CLI_ADVICE + 1];
    struct cli_head head = report_head(r);
    cli_heading(&head);
    int status = report_rows(r, limit);
    if (limit && limit < r->functions.n) {
        char share[CLI_NUMBER], n[CLI_NUMBER];
        bool is_one = r->functions.n - limit == 1;
        uint64_t self = 0;
        for (uint64_t i = limit; i < r->functions.n; i++)
            self += r->functions.rows[i].self;
        printf("        %s more %s %s %s of self (--limit 0 shows %s)\n",
               cli_count(n, r->functions.n - limit),
               is_one ? report_by_words[r->by - report_bys] : r->by->some, is_one ? "has" : "have",
               cli_percent(share, report_share(r, self)), is_one ? "it" : "them");
    }
    cli_closing(&head);
    bool has_lines = false;
    for (uint64_t i = 0; i < r->functions.n && !has_lines; i++)
        has_lines = r->functions.rows[i].line;
    if (has_lines)
        puts("After a function comes its hottest line, with that line's share of self.");
    report_cuts(r);
    if (cli_advice(&r->capture, advice, CLI_ADVICE))
        cli_wrap(&r->capture.style, strcat(advice, "."));
    int hinted = report_hints(r);
    return status ? status : hinted;
}

/* Build the rows. CLI_OK, or CLI_FAILED, which is reported. */
static int report_build(struct report *r)
{
    if (r->filter.has_tasks && !r->capture.info.tasks)
        return cli_fail(r->capture.label, CLI_NO_TASKS);
    if (strcmp(r->order.by, "label") == 0 && !r->capture.info.has_labels)
        return cli_fail(r->capture.label, "no labels in this capture");
    return cli_functions_open(&r->functions, &r->capture, &r->order);
}

/* Return "label" for "label:KEY", and keep the key. */
static const char *report_by_word(struct report *r, const char *word)
{
    static const char label[] = "label:";
    if (strncmp(word, label, sizeof label - 1) != 0 || !word[sizeof label - 1])
        return word;
    r->order.label = word + sizeof label - 1;
    return "label";
}

static int report_run(struct cli_arguments *a)
{
    const char *by_word = "function";
    uint32_t limit = UINT32_MAX; /* not given */
    struct report r = { .order = { .size = sizeof r.order, .sort = "self" } };
    const struct cli_option options[] = { { "by", NULL, &by_word, NULL },
                                          { "sort", NULL, &r.order.sort, NULL },
                                          { "limit", NULL, NULL, &limit },
                                          CLI_FORM_OPTIONS(&r.form),
                                          { "markdown", &r.is_markdown, NULL, NULL },
                                          { "lines", &r.filter.native.has_lines, NULL, NULL },
                                          CLI_FILTER_OPTIONS(&r.filter),
                                          { 0 } };
    static const char *const sorts[] = { "self", "total", "samples", "name", NULL };
    int sort = cli_options(a, options) ? -1 : cli_choice(a->command, "sort", r.order.sort, sorts);
    int by = sort < 0 ? -1 : cli_choice(a->command, "by", report_by_word(&r, by_word),
                                        report_by_words);
    if (by < 0 || cli_form_check(a->command, &r.form))
        return CLI_USAGE;
    if (r.is_markdown && (by > 0 || !cli_form_is_text(&r.form)))
        return cli_usage(a->command, "--markdown has all in one: leave out --by, --csv and --json");
    r.by = &report_bys[by];
    r.order.by = report_by_words[by];
    r.filter.has_tasks = strcmp(r.order.by, "task") == 0;
    int status = cli_filter_open_all(&r.capture, a, &r.filter);
    if (status)
        return status;
    status = report_build(&r);
    if (status)
        goto out;
    cli_native_complain(&r.capture);
    if (r.functions.n == 0) {
        status = cli_no_samples(&r.capture);
    } else if (r.is_markdown) {
        status = cli_markdown(&r.capture, &r.functions, limit);
    } else if (cli_form_is_text(&r.form)) {
        status = report_text(&r, limit == UINT32_MAX ? REPORT_LIMIT : limit);
        cli_incomplete(cli_lua_note(&r.capture) < 0);
    } else {
        status = report_rows(&r, limit == UINT32_MAX ? 0 : limit);
    }
out:
    cli_functions_free(&r.functions);
    cli_close(&r.capture);
    return status;
}

const struct cli_command cli_report = {
    .name = "report",
    .summary = "functions by self and total share",
    .help = report_help,
    .run = report_run,
    .is_followed = true,
    .documents = { &report_document, &report_group_document },
};
