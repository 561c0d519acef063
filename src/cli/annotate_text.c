/* cli/annotate_text.c - a function's lines and operations as a table.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"
#include "threads.h"
#include "jsprof.h"

enum {
    TEXT_FIGURES = 7 + 8 + 10, /* columns of self, total and time */
    TEXT_TAB = 4,
    TEXT_OPCODES = 16,         /* of the table of operations */
    TEXT_AROUND = 3,           /* lines of source around a line that has values */
};

/* -- Figures ---------------------------------------------------------------- */

static double text_share(const struct cli_annotate *a, uint64_t value)
{
    return a->result.total ? (double)value / (double)a->result.total : 0;
}

static void text_figures(const struct cli_annotate *a, const struct jsp_annotate_cost *cost)
{
    const struct cli_style *s = &a->capture.style;
    char text[CLI_NUMBER];
    if (!cost || !cost->total) {
        printf("%*s", TEXT_FIGURES, "");
        return;
    }
    double self = text_share(a, cost->self);
    cli_colour(s, self >= 0.10 ? CLI_HOT : self >= 0.02 ? CLI_WARM : CLI_PLAIN);
    printf("%7s", cost->self ? cli_percent(text, self) : "");
    cli_colour(s, CLI_PLAIN);
    printf("%8s", cli_percent(text, text_share(a, cost->total)));
    printf("%10s", cost->self ? cli_value(text, &a->capture.profile, cost->self) : "");
}

/* Print the rest of a line without tabs, cut to the width of the terminal. */
static void text_rest(const struct cli_annotate *a, struct cli_span text, int used)
{
    int columns = a->capture.style.columns;
    int room = columns > used ? columns - used : columns ? 1 : 0;
    size_t n = 0;
    char *flat = malloc(TEXT_TAB * text.len + 1);
    cli_incomplete(!flat);
    for (size_t i = 0; flat && i < text.len; i++) {
        if (text.at[i] == '\t')
            do
                flat[n++] = ' ';
            while (n % TEXT_TAB);
        else
            flat[n++] = text.at[i];
    }
    if (flat)
        cli_name(&a->capture.style, (struct cli_span){ flat, n }, room);
    free(flat);
    putchar('\n');
}

/* -- Lines and rows --------------------------------------------------------- */

static const struct jsp_annotate_cost *text_line_cost(const struct cli_annotate *a,
                                                      uint32_t line)
{
    const struct jsp_annotate *r = &a->result;
    for (uint32_t i = 0; i < r->n_lines; i++)
        if (r->lines[i].line == line)
            return &r->lines[i].cost;
    return NULL;
}

static void text_row(const struct cli_annotate *a, uint32_t row)
{
    const struct cli_style *s = &a->capture.style;
    const struct jsp_bytecode_row *r = &a->result.code.rows[row];
    text_figures(a, &a->result.rows[row]);
    cli_colour(s, CLI_DIM);
    int used = TEXT_FIGURES + printf("%14" PRIu64 "  ", r->pc);
    cli_colour(s, CLI_PLAIN);
    text_rest(a, (struct cli_span){ r->text.at, r->text.len }, used);
}

static void text_line(const struct cli_annotate *a, uint32_t line)
{
    const struct cli_style *s = &a->capture.style;
    text_figures(a, text_line_cost(a, line));
    cli_colour(s, CLI_KIND);
    int used = TEXT_FIGURES + printf("%7" PRIu32 "  ", line);
    cli_colour(s, CLI_PLAIN);
    text_rest(a, cli_source_line(&a->source, line), used);
    for (uint32_t i = 0; i < a->result.code.n; i++)
        if (a->result.code.rows[i].line == line)
            text_row(a, i);
}

static int text_compare(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

/* List the lines that have values, in order, and the line of the definition. */
static uint32_t text_known(const struct cli_annotate *a, uint32_t *known)
{
    const struct jsp_annotate *r = &a->result;
    uint32_t n = 0, kept = 0;
    for (uint32_t i = 0; i < r->n_lines; i++)
        known[n++] = r->lines[i].line;
    for (uint32_t i = 0; i < r->code.n; i++)
        known[n++] = r->code.rows[i].line;
    known[n++] = a->line;
    qsort(known, n, sizeof *known, text_compare);
    for (uint32_t i = 0; i < n; i++)
        if (known[i] && (!kept || known[i] != known[kept - 1]))
            known[kept++] = known[i];
    return kept;
}

/* Add the lines around them where the source is known. */
static void text_gap(const struct cli_annotate *a, uint32_t from, uint32_t to)
{
    if (!a->source.path)
        return;
    bool is_far = to - from > 2 * TEXT_AROUND + 1;
    for (uint32_t line = from; line < to; line++) {
        if (is_far && line == from + TEXT_AROUND) {
            printf("%*s\n", TEXT_FIGURES + 7, "...");
            line = to - TEXT_AROUND;
        }
        text_line(a, line);
    }
}

static void text_lines(const struct cli_annotate *a)
{
    uint32_t *known = calloc((size_t)a->result.n_lines + a->result.code.n + 1, sizeof *known);
    uint32_t n = cli_incomplete(!known) ? 0 : text_known(a, known);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            text_gap(a, known[i - 1] + 1, known[i]);
        text_line(a, known[i]);
    }
    if (n && known[n - 1] < a->source.n_lines)
        text_line(a, known[n - 1] + 1);
    free(known);
    for (uint32_t i = 0; i < a->result.code.n; i++)
        if (a->result.code.rows[i].line == 0)
            text_row(a, i);
}

static void text_opcodes(const struct cli_annotate *a)
{
    struct jsp_annotate_opcode *all = NULL;
    uint32_t n = 0, shown = 0;
    if (!a->result.in_rows ||
        cli_incomplete(jsp_annotate_opcodes(&a->result, &all, &n) < 0)) {
        free(all);
        return;
    }
    printf("\n%7s%18s  %s\n", "SELF", cli_unit_head(&a->capture.profile), "OPERATION");
    for (; shown < n && shown < TEXT_OPCODES && all[shown].self; shown++) {
        char share[CLI_NUMBER], value[CLI_NUMBER];
        printf("%7s%18s  ", cli_percent(share, text_share(a, all[shown].self)),
               cli_value(value, &a->capture.profile, all[shown].self));
        cli_name(&a->capture.style, (struct cli_span){ all[shown].name.at, all[shown].name.len },
                 0);
        printf("  (%" PRIu32 " row%s)\n", all[shown].n_rows, all[shown].n_rows == 1 ? "" : "s");
    }
    free(all);
}

/* -- Heading and closing ---------------------------------------------------- */

static void text_heading(const struct cli_annotate *a)
{
    const struct jsp_annotate *r = &a->result;
    const struct jsp_profile *p = &a->capture.profile;
    const struct cli_style *s = &a->capture.style;
    char self[CLI_NUMBER], total[CLI_NUMBER], share[CLI_NUMBER], all[CLI_NUMBER];
    double of = r->value ? (double)r->value : 1;
    cli_colour(s, CLI_BOLD);
    cli_name(s, cli_span(a->function->name), s->columns);
    cli_colour(s, CLI_PLAIN);
    printf("\nself %s (%s of all), total %s (%s), in %s samples\n",
           cli_value(self, p, r->self), cli_percent(share, (double)r->self / of),
           cli_value(total, p, r->total), cli_percent(all, (double)r->total / of),
           cli_count((char[CLI_NUMBER]){ 0 }, r->total_samples));
}

static void text_source(const struct cli_annotate *a)
{
    const struct jsp_profile *p = &a->capture.profile;
    if (!a->file)
        return;
    fputs(a->source.path ? "source: " : "source not found: ", stdout);
    cli_name(&a->capture.style, cli_span(a->source.path ? a->source.path : a->file), 0);
    if (!a->source.path)
        fputs(a->directory ? "" : " (--source DIR adds a folder to look in)", stdout);
    else if (p->natives.recorded && a->source.changed > p->natives.recorded)
        fputs(" (changed after the recording: lines may differ)", stdout);
    putchar('\n');
}

static void text_nothing(const struct cli_annotate *a)
{
    bool is_native = a->function->kind == JSPROF_KIND_NATIVE;
    bool is_vm = a->function->kind == JSPROF_KIND_VM;
    if (a->result.n_lines || a->result.code.n)
        return;
    puts(is_native ? "\nThis is native code, and its debug information has no lines."
         : is_vm   ? "\nThe host gave no lines of this function, and registered no listing."
                   : "\nThis is something that the host does: it has no lines.");
}

static void text_part(const struct cli_annotate *a, uint64_t value, const char *what)
{
    char share[CLI_NUMBER];
    double of = a->result.self ? (double)a->result.self : 1;
    if (value < a->result.self)
        printf("%s of self is in a known %s.\n", cli_percent(share, (double)value / of), what);
}

static void text_closing(const struct cli_annotate *a)
{
    const struct jsp_annotate *r = &a->result;
    text_nothing(a);
    putchar('\n');
    if (r->n_lines && r->self)
        text_part(a, r->in_lines, "line");
    if (r->code.n && r->self)
        text_part(a, r->in_rows, "row of the listing");
    if (r->code.is_shared)
        puts("Another function of this name has another listing: the rows count samples of both.");
    if (r->code.n < r->code.n_claimed)
        printf("The listing has %" PRIu32 " rows, %" PRIu32 " of them are in the file.\n",
               r->code.n_claimed, r->code.n);
    if (a->function->kind == JSPROF_KIND_NATIVE && r->n_lines)
        puts("This is native code: it has lines from its debug information, but no listing.");
    else if (!r->code.is_there && a->function->kind == JSPROF_KIND_VM)
        puts("The host registered no listing of this function.");
}

void cli_annotate_text(struct cli_annotate *a)
{
    text_heading(a);
    text_source(a);
    if (a->result.n_lines || a->result.code.n) {
        printf("\n%7s%8s%10s%7s\n", "SELF", "TOTAL", cli_unit_head(&a->capture.profile), "LINE");
        text_lines(a);
        text_opcodes(a);
    }
    text_closing(a);
}
