/* report.c - `jsprof report`: functions by self and total share.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/functions.h"
#include "cli/command.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "cli/threads.h"
#include "jsprof.h"

enum { REPORT_LIMIT = 30, REPORT_UNBOUND_BAR = 16 };

static const char report_help[] =
    "usage: jsprof report [OPTION]... FILE\n"
    "\n"
    "Functions by the time spent in them (self) and in them or below (total).\n"
    "\n"
    "  --sort self|total|samples|name  (default self)\n"
    "  --limit N        so many functions at most; 0 is all (default 30)\n"
    "  --lines          also files and lines of native code, asked of addr2line\n"
    CLI_ROWS_HELP
    "\n"
    CLI_FILTER_HELP
    "\n"
    "The bar is solid for self and light up to total. A share is followed by what\n"
    "chance alone does to it: one standard error, from the number of samples.\n";

struct report {
    struct cli_capture capture;
    struct jsp_functions functions;
    struct cli_filter filter;
    struct cli_rows_wish wish;
    /* Which columns there is room for. */
    bool has_time, has_kind, has_error, has_total_time, has_samples;
    int bar, name;
};

/* Columns by importance; whatever the terminal leaves belongs to the name. */
static void report_layout(struct report *r)
{
    int columns = r->capture.style.columns, left = columns - 7 - 8 - 2;
    bool is_open = columns == 0; /* self share, total share, a gap; then the name */
    bool is_count = r->capture.profile.unit == JSP_VALUE_COUNT;
    r->has_time = is_open || columns >= 50;
    left -= r->has_time ? 10 : 0;
    r->has_kind = is_open || columns >= 60;
    left -= r->has_kind ? 8 : 0;
    r->bar = is_open ? REPORT_UNBOUND_BAR : columns >= 140 ? 20 : columns >= 72 ? 8 : 0;
    left -= r->bar ? r->bar + 2 : 0;
    r->has_error = is_open || columns >= 90;
    left -= r->has_error ? 5 : 0;
    r->has_samples = !is_count && (is_open || columns >= 100);
    left -= r->has_samples ? 9 : 0;
    r->has_total_time = is_open || columns >= 120;
    left -= r->has_total_time ? 10 : 0;
    r->name = is_open ? 0 : left;
}

static double report_share(const struct report *r, uint64_t value)
{
    return r->functions.value ? (double)value / (double)r->functions.value : 0;
}

/* One standard error of a share: binomial, over as many independent samples as
 * the uneven ones are worth. */
static double report_error(const struct report *r, double share)
{
    const struct jsp_profile *p = &r->capture.profile;
    double all = (double)p->value;
    double worth = p->squares > 0 ? all * all / p->squares : 0;
    double n = p->samples ? worth * (double)r->functions.samples / (double)p->samples : 0;
    return n > 0 && share > 0 ? sqrt(share * (1 - share) / n) : 0;
}

static void report_head(const struct report *r)
{
    const struct cli_style *s = &r->capture.style;
    const char *unit = cli_unit_head(&r->capture.profile);
    cli_colour(s, CLI_DIM);
    printf("%7s", "SELF");
    if (r->has_error)
        printf("%5s", s->is_utf8 ? "    ±" : "+-");
    if (r->has_time)
        printf("%10s", unit);
    if (r->has_samples)
        printf("%9s", "SAMPLES");
    printf("%8s", "TOTAL");
    if (r->has_total_time)
        printf("%10s", unit);
    printf("  %*s%s%s", r->bar, "", r->bar ? "  " : "", r->has_kind ? "KIND    " : "");
    fputs("FUNCTION", stdout);
    cli_colour(s, CLI_PLAIN);
    putchar('\n');
}

static enum cli_colour report_heat(double share)
{
    return share >= 0.10 ? CLI_HOT : share >= 0.02 ? CLI_WARM : CLI_PLAIN;
}

/* What a function that never ran itself has as self stays blank. */
static void report_self(const struct report *r, const struct jsp_function_row *f)
{
    const struct cli_style *s = &r->capture.style;
    double self = report_share(r, f->self);
    char text[CLI_NUMBER];
    int blank = 7 + (r->has_error ? 5 : 0) + (r->has_samples ? 9 : 0) +
                (r->has_time ? 10 : 0);
    if (f->self_samples == 0) {
        printf("%*s", blank, "");
        return;
    }
    cli_colour(s, report_heat(self));
    printf("%7s", cli_percent(text, self));
    cli_colour(s, CLI_PLAIN);
    if (r->has_error) {
        cli_colour(s, CLI_DIM);
        printf("%5.1f", 100 * report_error(r, self));
        cli_colour(s, CLI_PLAIN);
    }
    if (r->has_time)
        printf("%10s", cli_value(text, &r->capture.profile, f->self));
    if (r->has_samples)
        printf("%9s", cli_count(text, f->self_samples));
}

static void report_numbers(const struct report *r, const struct jsp_function_row *f)
{
    double self = report_share(r, f->self), total = report_share(r, f->total);
    char text[CLI_NUMBER];
    report_self(r, f);
    printf("%8s", cli_percent(text, total));
    if (r->has_total_time)
        printf("%10s", cli_value(text, &r->capture.profile, f->total));
    fputs("  ", stdout);
    if (r->bar) {
        cli_bar(&r->capture.style, self, total, r->bar);
        fputs("  ", stdout);
    }
}

/* Its hottest line, where it is known and there is room. */
static void report_line(const struct report *r, const struct jsp_function_row *f,
                        char out[CLI_PLACE + CLI_NUMBER])
{
    char place[CLI_PLACE];
    cli_native_place(place, &r->capture, (struct cli_line){ f->file, f->line });
    if (f->line && f->self && r->has_kind)
        snprintf(out, CLI_PLACE + CLI_NUMBER, " %s %.0f%%", place,
                 100 * (double)f->line_value / (double)f->self);
}

static void report_row(const struct report *r, const struct jsp_function_row *f)
{
    const struct cli_style *s = &r->capture.style;
    const struct jsp_function *function = &r->capture.profile.functions[f->function];
    char line[CLI_PLACE + CLI_NUMBER] = "", module[CLI_PLACE] = "";
    report_line(r, f, line);
    if (r->has_kind)
        cli_native_module(module, &r->capture, function);
    int room = r->name ? r->name - (int)strlen(line) - (int)strlen(module) : 0;
    report_numbers(r, f);
    cli_colour(s, CLI_KIND);
    if (r->has_kind)
        printf("%-8s", jsp_kind_name(f->kind));
    cli_colour(s, CLI_PLAIN);
    cli_name(s, cli_span(function->name), room);
    cli_colour(s, CLI_DIM);
    fputs(module, stdout);
    fputs(line, stdout);
    cli_colour(s, CLI_PLAIN);
    putchar('\n');
}

static void report_rest(const struct report *r, uint32_t limit)
{
    uint64_t self = 0;
    char share[CLI_NUMBER], n[CLI_NUMBER];
    for (uint32_t i = limit; i < r->functions.n; i++)
        self += r->functions.rows[i].self;
    bool is_one = r->functions.n - limit == 1;
    printf("        %s more function%s %s of self (--limit 0 shows %s)\n",
           cli_count(n, r->functions.n - limit), is_one ? " has" : "s have",
           cli_percent(share, report_share(r, self)), is_one ? "it" : "them");
}

/* What could be done about stacks that are not whole. */
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
    if (r->capture.profile.no_proc)
        puts(CLI_NO_PROC ".");
    for (uint32_t i = 0; i < r->functions.n; i++) {
        const struct jsp_function_row *f = &r->functions.rows[i];
        const char *name = r->capture.profile.functions[f->function].name;
        for (size_t c = 0; f->kind == JSPROF_KIND_SYNTH && c < sizeof cuts / sizeof *cuts; c++)
            if (strcmp(name, cuts[c].name) == 0)
                printf("%s (%s of the time): %s.\n", name,
                       cli_percent(share, report_share(r, f->total)), cuts[c].advice);
    }
}

static void report_table(struct report *r, uint32_t limit)
{
    uint32_t n = limit && limit < r->functions.n ? limit : r->functions.n;
    report_layout(r);
    cli_heading(&r->capture);
    report_head(r);
    for (uint32_t i = 0; i < n; i++)
        report_row(r, &r->functions.rows[i]);
    if (n < r->functions.n)
        report_rest(r, n);
    cli_closing(&r->capture, r->functions.samples, r->functions.value);
    if (r->functions.has_lines)
        puts("A function's hottest line stands behind it, with its share of self.");
    report_cuts(r);
}

static const char *const report_columns[] = {
    "function", "kind", "self", "total", "self_samples", "total_samples", NULL,
};
static const char *const report_line_columns[] = {
    "function", "kind", "self", "total", "self_samples", "total_samples",
    "module",   "file", "line", NULL,
};

static void report_rows_line(const struct report *r, struct cli_rows *rows,
                             const struct jsp_function_row *f)
{
    const struct jsp_profile *p = &r->capture.profile;
    cli_rows_text(rows, cli_span(p->functions[f->function].module));
    cli_rows_text(rows, cli_span(f->file ? p->files[f->file] : ""));
    cli_rows_u64(rows, f->line);
}

static int report_rows(const struct report *r, uint32_t limit)
{
    bool has_lines = r->filter.native.has_lines;
    struct cli_rows *rows = cli_rows_open(&r->wish, &r->capture, "report",
                                          has_lines ? report_line_columns
                                                    : report_columns);
    for (uint32_t i = 0; rows && i < r->functions.n && (limit == 0 || i < limit); i++) {
        const struct jsp_function_row *f = &r->functions.rows[i];
        cli_rows_text(rows, cli_span(r->capture.profile.functions[f->function].name));
        cli_rows_word(rows, jsp_kind_name(f->kind));
        cli_rows_u64(rows, f->self);
        cli_rows_u64(rows, f->total);
        cli_rows_u64(rows, f->self_samples);
        cli_rows_u64(rows, f->total_samples);
        if (has_lines)
            report_rows_line(r, rows, f);
    }
    return cli_rows_close(rows);
}

static int report_sort(const char *word, enum jsp_sort *sort)
{
    static const char *const names[] = { "self", "total", "samples", "name" };
    for (int i = 0; i < 4; i++)
        if (strcmp(word, names[i]) == 0) {
            *sort = (enum jsp_sort)i;
            return CLI_OK;
        }
    return cli_usage("report", "--sort knows self, total, samples and name, not \"%s\"",
                     word);
}

static int report_build(struct report *r, enum jsp_sort sort)
{
    struct jsp_profile *p = &r->capture.profile;
    int err = jsp_functions_build(&r->functions, p, &r->capture.select);
    if (err < 0)
        return cli_fail(r->capture.label, "%s", strerror(-err));
    jsp_functions_sort(&r->functions, p, sort);
    cli_native_complain(&r->capture);
    if (r->functions.n == 0)
        return cli_no_samples(&r->capture);
    return CLI_OK;
}

static int report_run(struct cli_arguments *a)
{
    const char *sort_word = "self";
    uint32_t limit = UINT32_MAX; /* not given */
    enum jsp_sort sort = JSP_SORT_SELF;
    struct report r = { 0 };
    const struct cli_option options[] = { { "sort", NULL, &sort_word, NULL },
                                          { "limit", NULL, NULL, &limit },
                                          CLI_ROWS_OPTIONS(&r.wish),
                                          { "lines", &r.filter.native.has_lines, NULL, NULL },
                                          CLI_FILTER_OPTIONS(&r.filter),
                                          { 0 } };
    if (cli_options(a, options) || report_sort(sort_word, &sort) ||
        cli_rows_check(a->command, &r.wish))
        return CLI_USAGE;
    const char *path = cli_one_file(a);
    if (!path)
        return CLI_USAGE;
    int status = cli_filter_open(&r.capture, path, &r.filter, a->command);
    if (status)
        return status;
    status = report_build(&r, sort);
    if (status == CLI_OK && cli_rows_wanted(&r.wish))
        status = report_rows(&r, limit == UINT32_MAX ? 0 : limit);
    else if (status == CLI_OK)
        report_table(&r, limit == UINT32_MAX ? REPORT_LIMIT : limit);
    jsp_functions_free(&r.functions);
    cli_close(&r.capture);
    return status;
}

const struct cli_command cli_report = {
    .name = "report",
    .summary = "functions by self and total share",
    .help = report_help,
    .run = report_run,
};
