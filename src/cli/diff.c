/* diff.c - `jsprof diff`: what changed from one capture to another, by share.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "cli/threads.h"

enum { DIFF_LIMIT = 30 };
#define DIFF_LEAST 0.0005 /* a share's change that is printed as 0.1 points */

static const char diff_help[] =
    "usage: jsprof diff [OPTION]... BEFORE AFTER\n"
    "\n"
    "Functions by the change of their share, in points of a percent.\n"
    "\n"
    "  --sort self|total the change of which (default self)\n"
    "  --limit N         so many that changed, at most; 0 is all (default 30)\n"
    CLI_ROWS_HELP
    "\n"
    CLI_FILTER_HELP
    "\n"
    "A change that chance explains is grey and has no star: a star stands where\n"
    "chance does as much in less than one of twenty whole tables. A function is the\n"
    "same in both, when its module is and its name is but for the line at its end.\n";

struct diff {
    struct cli_capture captures[2];
    struct jsp_functions functions[2];
    struct jsp_diff diff;
    struct cli_filter filter;
    struct cli_rows_wish wish;
    bool is_total;
};

static void diff_side_line(const struct diff *d, int i, const char *what)
{
    const struct cli_capture *c = &d->captures[i];
    const struct jsp_profile *p = &c->profile;
    char v[CLI_NUMBER], n[CLI_NUMBER];
    printf("%-7s", what);
    int room = c->style.columns ? c->style.columns - 60 : 0;
    cli_name(&c->style, cli_span(c->label), room > 20 || !room ? room : 20);
    if (p->unit == JSP_VALUE_COUNT)
        printf(": %s samples\n", cli_count(n, d->functions[i].samples));
    else
        printf(": %s of %s in %s samples\n", cli_value(v, p, d->functions[i].value),
               jsp_unit_name(p->unit), cli_count(n, d->functions[i].samples));
}

static bool diff_is_real(const struct diff *d, const struct jsp_diff_row *r)
{
    return d->is_total ? jsp_diff_is_real(r->total_chance, d->diff.n_total_judged)
                       : jsp_diff_is_real(r->chance, d->diff.n_judged);
}

static void diff_line(const struct diff *d, const struct jsp_diff_row *r)
{
    const struct cli_style *s = &d->captures[0].style;
    const double *share = d->is_total ? r->total_share : r->share;
    char text[CLI_NUMBER];
    bool is_real = diff_is_real(d, r);
    double change = 100 * (share[1] - share[0]);
    cli_colour(s, !is_real ? CLI_DIM : change > 0 ? CLI_HOT : CLI_GOOD);
    printf("%8s", cli_percent(text, share[0]));
    printf("%8s", cli_percent(text, share[1]));
    printf("%+9.1f %s  ", change, is_real ? "*" : " ");
    if (is_real) /* the colour was the figure's */
        cli_colour(s, CLI_PLAIN);
    cli_name(s, cli_span(r->name), s->columns ? s->columns - 29 : 0);
    cli_colour(s, CLI_PLAIN);
    putchar('\n');
}

/* How many of the first `limit` rows say more than "+0.0"; they are sorted by that. */
static uint32_t diff_worth_saying(const struct diff *d, uint32_t limit)
{
    uint32_t n = 0;
    for (; n < limit && n < d->diff.n; n++) {
        const struct jsp_diff_row *r = &d->diff.rows[n];
        const double *share = d->is_total ? r->total_share : r->share;
        if (fabs(share[1] - share[0]) < DIFF_LEAST && !diff_is_real(d, r))
            break;
    }
    return n;
}

static void diff_print(const struct diff *d, uint32_t limit)
{
    const struct cli_style *s = &d->captures[0].style;
    uint32_t n = limit ? diff_worth_saying(d, limit) : d->diff.n, real = 0;
    diff_side_line(d, 0, "before");
    diff_side_line(d, 1, "after");
    putchar('\n');
    cli_colour(s, CLI_DIM);
    printf("%8s%8s%9s    FUNCTION%s\n", "BEFORE", "AFTER", "CHANGE",
           s->columns && s->columns < 60 ? ""
           : d->is_total                 ? " (share of total)"
                                         : " (share of self)");
    cli_colour(s, CLI_PLAIN);
    for (uint32_t i = 0; i < n; i++)
        diff_line(d, &d->diff.rows[i]);
    for (uint32_t i = 0; i < d->diff.n; i++)
        real += diff_is_real(d, &d->diff.rows[i]);
    if (n < d->diff.n)
        printf("        %u more function%s (--limit 0 shows %s)\n", d->diff.n - n,
               d->diff.n - n == 1 ? "" : "s", d->diff.n - n == 1 ? "it" : "them");
    printf("\n%u of %u functions changed by more than chance explains (*).\n", real,
           d->diff.n);
}

static int diff_rows(const struct diff *d, uint32_t limit)
{
    static const char *const columns[] = {
        "function",     "kind",        "module",       "self_before",  "self_after",
        "total_before", "total_after", "share_before", "share_after",  "total_share_before",
        "total_share_after", "chance", "total_chance", "significant",  NULL
    };
    struct cli_rows *rows = cli_rows_open(&d->wish, NULL, "diff", columns);
    for (uint32_t i = 0; rows && i < d->diff.n && (!limit || i < limit); i++) {
        const struct jsp_diff_row *r = &d->diff.rows[i];
        cli_rows_text(rows, cli_span(r->name));
        cli_rows_word(rows, jsp_kind_name(r->kind));
        cli_rows_text(rows, cli_span(r->module));
        for (int j = 0; j < 2; j++)
            cli_rows_u64(rows, r->self[j]);
        for (int j = 0; j < 2; j++)
            cli_rows_u64(rows, r->total[j]);
        for (int j = 0; j < 2; j++)
            cli_rows_real(rows, r->share[j]);
        for (int j = 0; j < 2; j++)
            cli_rows_real(rows, r->total_share[j]);
        cli_rows_real(rows, r->chance);
        cli_rows_real(rows, r->total_chance);
        cli_rows_u64(rows, diff_is_real(d, r));
    }
    return cli_rows_close(rows);
}

static int diff_build_side(struct diff *d, int i)
{
    struct cli_capture *c = &d->captures[i];
    int err = jsp_functions_build(&d->functions[i], &c->profile, &c->select);
    if (err < 0)
        return cli_fail(c->label, "%s", strerror(-err));
    cli_native_complain(c);
    return d->functions[i].n ? CLI_OK : cli_no_samples(c);
}

static int diff_show(struct diff *d, uint32_t limit)
{
    struct jsp_diff_side sides[2];
    for (int i = 0; i < 2; i++) {
        if (diff_build_side(d, i))
            return CLI_FAILED;
        sides[i] = (struct jsp_diff_side){ &d->captures[i].profile, &d->functions[i] };
    }
    if (sides[0].profile->unit != sides[1].profile->unit)
        cli_fail(d->captures[1].label, "shares of %s are compared with shares of %s",
                 jsp_unit_name(sides[1].profile->unit), jsp_unit_name(sides[0].profile->unit));
    int err = jsp_diff_build(&d->diff, sides);
    if (err < 0)
        return cli_fail(d->captures[0].label, "%s", strerror(-err));
    if (d->is_total)
        jsp_diff_sort_total(&d->diff);
    if (cli_rows_wanted(&d->wish))
        return diff_rows(d, limit == UINT32_MAX ? 0 : limit);
    diff_print(d, limit == UINT32_MAX ? DIFF_LIMIT : limit);
    return CLI_OK;
}

static int diff_open(struct diff *d, const struct cli_arguments *a, uint32_t limit)
{
    int status = cli_filter_open(&d->captures[0], a->files[0], &d->filter, a->command);
    if (status)
        return status;
    status = cli_filter_open(&d->captures[1], a->files[1], &d->filter, a->command);
    if (status == CLI_OK) {
        status = diff_show(d, limit);
        cli_close(&d->captures[1]);
    }
    jsp_diff_free(&d->diff);
    for (int i = 0; i < 2; i++)
        jsp_functions_free(&d->functions[i]);
    cli_close(&d->captures[0]);
    return status;
}

static int diff_run(struct cli_arguments *a)
{
    struct diff d = { 0 };
    uint32_t limit = UINT32_MAX;
    const char *sort = "self";
    const struct cli_option options[] = { { "sort", NULL, &sort, NULL },
                                          { "limit", NULL, NULL, &limit },
                                          CLI_ROWS_OPTIONS(&d.wish),
                                          CLI_FILTER_OPTIONS(&d.filter),
                                          { 0 } };
    if (cli_options(a, options) || cli_rows_check(a->command, &d.wish))
        return CLI_USAGE;
    d.is_total = strcmp(sort, "total") == 0;
    if (!d.is_total && strcmp(sort, "self") != 0)
        return cli_usage(a->command, "--sort knows self and total, not \"%s\"", sort);
    if (a->n_files != 2)
        return cli_usage(a->command, "two captures are wanted, before and after");
    return diff_open(&d, a, limit);
}

const struct cli_command cli_diff = {
    .name = "diff",
    .summary = "what changed between two captures, and what chance explains",
    .help = diff_help,
    .run = diff_run,
};
