/* cli/annotate_rows.c - a function from inside: its lines and its operations.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>

#include "annotate.h"
#include "head.h"
#include "options.h"

enum {
    ANNOTATE_TAB = 4,
    ANNOTATE_OPCODES = 16, /* of the table of operations */
    ANNOTATE_AROUND = 3,   /* lines of source around a line that has values */
};

/* A line, or a row of the listing. */
struct annotate_row {
    const char *what, *file;
    uint32_t line;
    bool ends;
    struct cli_cell pc, text, targets;
    struct {
        uint64_t self, total;
    } cost;
};

/* -- The function ----------------------------------------------------------- */

#define ANNOTATE_FIELD(field) .offset = offsetof(struct cli_annotate, field)

static const struct cli_column annotate_head[] = {
    { .name = "capture", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      ANNOTATE_FIELD(capture.label),
      .means = "The capture as it was named, or \"standard input\"." },
    { .name = "function", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      ANNOTATE_FIELD(function.name),
      .means = "The name of the function." },
    { .name = "module", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      ANNOTATE_FIELD(function.module),
      .means = "The file of native code; empty where there is none." },
    { .name = "file", .type = CLI_TYPE_TEXT, .get = cli_get_string, ANNOTATE_FIELD(inside.file),
      .means = "The source file; empty where it is not known." },
    { .name = "line", .type = CLI_TYPE_COUNT, .get = cli_get_u32, ANNOTATE_FIELD(inside.line),
      .means = "The line of the definition; 0: not known." },
    { .name = "unit", .type = CLI_TYPE_WORD, .get = cli_get_string,
      ANNOTATE_FIELD(capture.info.unit),
      .words = cli_head_units,
      .means = "What values are made of." },
    { .name = "samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      ANNOTATE_FIELD(inside.samples), .means = "Samples that count." },
    { .name = "value", .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      ANNOTATE_FIELD(inside.value), .means = "The value of these samples." },
    { .name = "idle_samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      ANNOTATE_FIELD(capture.info.idle_samples), .means = CLI_HEAD_IDLE_SAMPLES },
    { .name = "idle_value", .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      ANNOTATE_FIELD(capture.info.idle_value), .means = CLI_HEAD_IDLE },
    { .name = "self", .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      ANNOTATE_FIELD(inside.self),
      .means = "What was spent in the function itself." },
    { .name = "total", .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      ANNOTATE_FIELD(inside.total),
      .means = "What was spent in the function and in what it called." },
    { .name = "self_samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      ANNOTATE_FIELD(inside.self_samples), .means = "Samples in the function itself." },
    { .name = "total_samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      ANNOTATE_FIELD(inside.total_samples),
      .means = "Samples in the function and in what it called." },
    { .name = "has_listing", .type = CLI_TYPE_BOOL, .get = cli_get_bool,
      ANNOTATE_FIELD(inside.has_listing), .means = "The host registered its bytecode." },
    { .name = "listing_is_shared", .type = CLI_TYPE_BOOL, .get = cli_get_bool,
      ANNOTATE_FIELD(inside.is_shared),
      .means = "Another function of this name has another listing." },
    { 0 }
};

/* -- Lines and rows --------------------------------------------------------- */

static double annotate_share(const struct cli_annotate *a, uint64_t value)
{
    return a->inside.total ? (double)value / (double)a->inside.total : 0;
}

static struct cli_cell annotate_self_share(CLI_OF_ROW)
{
    uint64_t self = ((const struct annotate_row *)row)->cost.self;
    struct cli_cell cell = cli_cell_real(annotate_share(of, self));
    cell.is_blank = !self;
    cell.colour = cli_heat(cell.real);
    return cell;
}

static struct cli_cell annotate_total_share(CLI_OF_ROW)
{
    uint64_t total = ((const struct annotate_row *)row)->cost.total;
    struct cli_cell cell = cli_cell_real(annotate_share(of, total));
    cell.is_blank = !total;
    return cell;
}

static struct cli_cell annotate_self(CLI_OF_ROW)
{
    struct cli_cell cell = cli_get_u64(c, of, row);
    cell.is_blank = !cell.u64;
    return cell;
}

/* Text shows the line, or of an operation its pc, further to the right. */
static struct cli_cell annotate_line(CLI_OF_ROW)
{
    const struct annotate_row *r = row;
    struct cli_cell cell = cli_get_u32(c, of, row);
    cell.colour = r->pc.is_none ? CLI_KIND : CLI_DIM;
    snprintf(cell.shown, sizeof cell.shown, "%*" PRIu64, r->pc.is_none ? 0 : 13,
             r->pc.is_none ? cell.u64 : r->pc.u64);
    return cell;
}

/* Print the text without tabs. */
static void annotate_draw(const struct cli_table *t, const void *row, int room)
{
    struct cli_span text = ((const struct annotate_row *)row)->text.text;
    char *flat = malloc(ANNOTATE_TAB * text.len + 1);
    size_t n = 0;
    cli_incomplete(!flat);
    for (size_t i = 0; flat && i < text.len; i++)
        if (text.at[i] != '\t')
            flat[n++] = text.at[i];
        else
            for (flat[n++] = ' '; n % ANNOTATE_TAB; n++)
                flat[n] = ' ';
    if (flat)
        cli_name(cli_table_style(t), (struct cli_span){ flat, n }, room);
    free(flat);
}

#define ANNOTATE_ROW(field) .offset = offsetof(struct annotate_row, field)
#define ANNOTATE_COLUMN_FILE                                                                 \
    { .name = "file", .type = CLI_TYPE_TEXT, .get = cli_get_string, ANNOTATE_ROW(file),      \
      .means = "The file of the line; empty where it is not known." }
#define ANNOTATE_COLUMN_LINE                                                                 \
    { .name = "line", .head = "LINE", .type = CLI_TYPE_COUNT, .get = annotate_line,          \
      ANNOTATE_ROW(line), .place = 40, .width = 7, .means = "The line; 0: not known." }
#define ANNOTATE_COLUMN_PC                                                                   \
    { .name = "pc", .type = CLI_TYPE_COUNT, .get = cli_get_cell, ANNOTATE_ROW(pc),           \
      .means = "Where the operation begins in the bytecode." }
#define ANNOTATE_COLUMN_COST                                                                 \
    { .name = "self", .head = "TIME", .heading = cli_table_unit, .type = CLI_TYPE_VALUE,     \
      .get = annotate_self, ANNOTATE_ROW(cost.self), .place = 30, .width = 10,               \
      .means = "What was spent there, without what it called from there." },                 \
    { .name = "total", .type = CLI_TYPE_VALUE, .get = cli_get_u64,                           \
      ANNOTATE_ROW(cost.total),                                                              \
      .means = "What was spent there and in what it called from there." }
#define ANNOTATE_COLUMN_TEXT                                                                 \
    { .name = "text", .head = "", .type = CLI_TYPE_TEXT, .get = cli_get_cell,                \
      ANNOTATE_ROW(text), .draw = annotate_draw, .place = 50, .least = 1,                    \
      .means = "The operation, or the source of the line." }

static const struct cli_column annotate_columns[] = {
    { .name = "what", .type = CLI_TYPE_WORD, .get = cli_get_string, ANNOTATE_ROW(what) },
    ANNOTATE_COLUMN_FILE, ANNOTATE_COLUMN_LINE, ANNOTATE_COLUMN_PC, ANNOTATE_COLUMN_COST,
    ANNOTATE_COLUMN_TEXT,
    { .head = "SELF", .type = CLI_TYPE_SHARE, .get = annotate_self_share, .place = 10,
      .width = 7 },
    { .head = "TOTAL", .type = CLI_TYPE_SHARE, .get = annotate_total_share, .place = 20,
      .width = 8 },
    { 0 }
};

static const struct cli_column annotate_lines[] = {
    ANNOTATE_COLUMN_FILE, ANNOTATE_COLUMN_LINE, ANNOTATE_COLUMN_COST, { 0 }
};

static const struct cli_column annotate_listing[] = {
    ANNOTATE_COLUMN_PC, ANNOTATE_COLUMN_LINE, ANNOTATE_COLUMN_TEXT,
    { .name = "ends", .type = CLI_TYPE_BOOL, .get = cli_get_bool, ANNOTATE_ROW(ends),
      .means = "The operation never goes on to the next one." },
    { .name = "targets", .type = CLI_TYPE_NUMBERS, .get = cli_get_cell,
      ANNOTATE_ROW(targets),
      .means = "The pcs that it may jump to." },
    ANNOTATE_COLUMN_COST, { 0 }
};

const struct cli_document cli_annotate_document = {
    .means = "One function by line and by operation of its bytecode.",
    .head = annotate_head,
    .lists = { { .name = "lines", .means = "Its lines.", .columns = annotate_lines },
               { .name = "rows", .means = "The operations of its bytecode.",
                 .columns = annotate_listing } },
    .is_one_line = true,
};

/* The source of a line is known where it is in the function's own file. */
static void annotate_put_line(const struct cli_annotate *a, struct cli_table *t,
                              const jsprof_read_line *line)
{
    bool is_own = !line->file || !*line->file;
    const char *text = a->source && is_own ? jsprof_read_source_line(a->source, line->line) : "";
    struct annotate_row row = { .what = "line", .file = is_own ? a->inside.file : line->file,
                                .line = line->line, .pc = cli_cell_none(),
                                .cost = { line->self, line->total } };
    row.text.text = cli_span(cli_incomplete(!text) ? "" : text);
    cli_table_row(t, &row);
}

static void annotate_put_row(const struct cli_annotate *a, struct cli_table *t, uint64_t i)
{
    const jsprof_read_row *r = &a->rows[i];
    struct annotate_row row = { .what = "row", .file = a->inside.file, .line = r->line,
                                .ends = r->ends, .pc = cli_cell_u64(r->pc),
                                .text = cli_cell_string(r->text),
                                .cost = { r->self, r->total } };
    row.targets.numbers.at = r->targets;
    row.targets.numbers.n = r->n_targets;
    cli_table_row(t, &row);
}

static struct cli_table *annotate_open(const struct cli_annotate *a, const struct cli_form *form)
{
    return cli_table_open(&(struct cli_show){
        .form = form, .command = "annotate",
        .columns = annotate_columns, .document = &cli_annotate_document, .head = a,
        .of = a, .capture = &a->capture });
}

int cli_annotate_rows(const struct cli_annotate *a, const struct cli_form *form)
{
    struct cli_table *t = annotate_open(a, form);
    if (!t)
        return CLI_FAILED;
    for (uint64_t i = 0; i < a->n_lines; i++)
        annotate_put_line(a, t, &a->lines[i]);
    cli_table_next(t);
    for (uint64_t i = 0; i < a->n_rows; i++)
        annotate_put_row(a, t, i);
    return cli_table_close(t);
}

/* -- Text ------------------------------------------------------------------- */

/* Print a line of source, then its operations. */
static void annotate_put_source(const struct cli_annotate *a, struct cli_table *t, uint32_t line)
{
    jsprof_read_line own = { .line = line };
    for (uint64_t i = a->n_lines; i-- > 0;)
        if (a->lines[i].line == line)
            own.self = a->lines[i].self, own.total = a->lines[i].total;
    annotate_put_line(a, t, &own);
    for (uint64_t i = 0; i < a->n_rows; i++)
        if (a->rows[i].line == line)
            annotate_put_row(a, t, i);
}

static int annotate_compare(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

/* List the lines that have values, in order, and the line of the definition. */
static uint32_t annotate_known(const struct cli_annotate *a, uint32_t *known)
{
    uint32_t n = 0, kept = 0;
    for (uint64_t i = 0; i < a->n_lines; i++)
        known[n++] = a->lines[i].line;
    for (uint64_t i = 0; i < a->n_rows; i++)
        known[n++] = a->rows[i].line;
    known[n++] = a->inside.line;
    qsort(known, n, sizeof *known, annotate_compare);
    for (uint32_t i = 0; i < n; i++)
        if (known[i] && (!kept || known[i] != known[kept - 1]))
            known[kept++] = known[i];
    return kept;
}

static int annotate_text_lines(const struct cli_annotate *a, const struct cli_form *form)
{
    uint32_t *known = calloc(a->n_lines + a->n_rows + 1, sizeof *known);
    uint32_t n = cli_incomplete(!known) ? 0 : annotate_known(a, known);
    struct cli_table *t = annotate_open(a, form);
    for (uint32_t i = 0; t && i < n; i++) {
        /* Print the lines between this one and the last where the source is known. */
        uint32_t from = i ? known[i - 1] + 1 : known[i];
        bool is_far = known[i] - from > 2 * ANNOTATE_AROUND + 1;
        for (uint32_t line = from; a->source && line < known[i]; line++) {
            if (is_far && line == from + ANNOTATE_AROUND) {
                printf("%*s\n", 7 + 8 + 10 + 7, "..."); /* below LINE */
                line = known[i] - ANNOTATE_AROUND;
            }
            annotate_put_source(a, t, line);
        }
        annotate_put_source(a, t, known[i]);
    }
    if (t && n && known[n - 1] < a->found.n_lines)
        annotate_put_source(a, t, known[n - 1] + 1);
    free(known);
    for (uint64_t i = 0; t && i < a->n_rows; i++)
        if (a->rows[i].line == 0)
            annotate_put_row(a, t, i);
    return cli_table_close(t);
}

static struct cli_cell annotate_opcode_share(CLI_OF_ROW)
{
    return cli_cell_real(annotate_share(of, ((const jsprof_read_operation *)row)->self));
}

static void annotate_opcode_draw(const struct cli_table *t, const void *row, int room)
{
    const jsprof_read_operation *o = row;
    (void)room;
    cli_name(cli_table_style(t), cli_span(o->name), 0);
    printf("  (%" PRIu32 " row%s)", o->n_rows, cli_s(o->n_rows));
}

static const struct cli_column annotate_opcodes[] = {
    { .head = "SELF", .type = CLI_TYPE_SHARE, .get = annotate_opcode_share, .place = 10,
      .width = 7 },
    { .head = "TIME", .heading = cli_table_unit, .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      .offset = offsetof(jsprof_read_operation, self), .place = 20, .width = 18 },
    { .head = "OPERATION", .type = CLI_TYPE_TEXT, .draw = annotate_opcode_draw, .place = 30 },
    { 0 }
};

static int annotate_text_opcodes(const struct cli_annotate *a, const struct cli_form *form)
{
    jsprof_read_operation row = { .size = sizeof row };
    int64_t got = 0;
    if (!a->inside.in_rows)
        return CLI_OK;
    putchar('\n');
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = form, .columns = annotate_opcodes, .of = a, .capture = &a->capture });
    for (uint64_t i = 0; t && i < ANNOTATE_OPCODES; i++) {
        got = jsprof_read_operations(a->listing, i, &row, 1);
        if (got != 1 || !row.self)
            break;
        cli_table_row(t, &row);
    }
    cli_incomplete(got < 0);
    return cli_table_close(t);
}

int cli_annotate_tables(const struct cli_annotate *a, const struct cli_form *form)
{
    putchar('\n');
    int status = annotate_text_lines(a, form);
    return status ? status : annotate_text_opcodes(a, form);
}
