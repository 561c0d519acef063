/* cli/annotate_rows.c - a function from inside, for programs: its lines and its operations.
 *
 * SPDX-License-Identifier: MIT
 */
#include "annotate.h"
#include "head.h"
#include "options.h"

/* A line, or a row of the listing. */
struct annotate_row {
    const char *what, *file;
    uint32_t line;
    bool ends;
    struct cli_cell pc, text, targets;
    struct jsp_annotate_cost cost;
};

/* -- The function ----------------------------------------------------------- */

static struct cli_cell annotate_capture(CLI_OF_ROW)
{
    return cli_cell_string(((const struct cli_annotate *)row)->capture.label);
}

static struct cli_cell annotate_function(CLI_OF_ROW)
{
    return cli_cell_string(((const struct cli_annotate *)row)->function->name);
}

static struct cli_cell annotate_module(CLI_OF_ROW)
{
    return cli_cell_string(((const struct cli_annotate *)row)->function->module);
}

static const char *annotate_own_file(const struct cli_annotate *a)
{
    return a->file ? a->file : "";
}

static struct cli_cell annotate_head_file(CLI_OF_ROW)
{
    return cli_cell_string(annotate_own_file(row));
}

static struct cli_cell annotate_unit(CLI_OF_ROW)
{
    return cli_cell_string(jsp_unit_key(((const struct cli_annotate *)row)->capture.profile.unit));
}

#define ANNOTATE_FIELD(field) .offset = offsetof(struct cli_annotate, field)

static const struct cli_column annotate_head[] = {
    { .name = "capture", .type = CLI_TYPE_TEXT, .get = annotate_capture,
      .means = "The capture as it was named, or \"standard input\"." },
    { .name = "function", .type = CLI_TYPE_TEXT, .get = annotate_function,
      .means = "The name of the function." },
    { .name = "module", .type = CLI_TYPE_TEXT, .get = annotate_module,
      .means = "The file of native code; empty where there is none." },
    { .name = "file", .type = CLI_TYPE_TEXT, .get = annotate_head_file,
      .means = "The source file; empty where it is not known." },
    { .name = "line", .type = CLI_TYPE_COUNT, .get = cli_get_u32, ANNOTATE_FIELD(line),
      .means = "The line of the definition; 0: not known." },
    { .name = "unit", .type = CLI_TYPE_WORD, .get = annotate_unit,
      .words = cli_head_units,
      .means = "What values are made of." },
    { .name = "samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      ANNOTATE_FIELD(result.samples), .means = "Samples that count." },
    { .name = "value", .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      ANNOTATE_FIELD(result.value), .means = "The value of these samples." },
    { .name = "self", .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      ANNOTATE_FIELD(result.self),
      .means = "What was spent in the function itself." },
    { .name = "total", .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      ANNOTATE_FIELD(result.total),
      .means = "What was spent in the function and in what it called." },
    { .name = "self_samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      ANNOTATE_FIELD(result.self_samples), .means = "Samples in the function itself." },
    { .name = "total_samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      ANNOTATE_FIELD(result.total_samples),
      .means = "Samples in the function and in what it called." },
    { .name = "has_listing", .type = CLI_TYPE_BOOL, .get = cli_get_bool,
      ANNOTATE_FIELD(result.code.is_there), .means = "The host registered its bytecode." },
    { .name = "listing_is_shared", .type = CLI_TYPE_BOOL, .get = cli_get_bool,
      ANNOTATE_FIELD(result.code.is_shared),
      .means = "Another function of this name has another listing." },
    { 0 }
};

/* -- Lines and rows --------------------------------------------------------- */

#define ANNOTATE_ROW(field) .offset = offsetof(struct annotate_row, field)
#define ANNOTATE_COLUMN_FILE                                                                 \
    { .name = "file", .type = CLI_TYPE_TEXT, .get = cli_get_string, ANNOTATE_ROW(file),      \
      .means = "The file of the line; empty where it is not known." }
#define ANNOTATE_COLUMN_LINE                                                                 \
    { .name = "line", .type = CLI_TYPE_COUNT, .get = cli_get_u32, ANNOTATE_ROW(line),        \
      .means = "The line; 0: not known." }
#define ANNOTATE_COLUMN_PC                                                                   \
    { .name = "pc", .type = CLI_TYPE_COUNT, .get = cli_get_cell, ANNOTATE_ROW(pc),           \
      .means = "Where the operation begins in the bytecode." }
#define ANNOTATE_COLUMN_COST                                                                 \
    { .name = "self", .type = CLI_TYPE_VALUE, .get = cli_get_u64, ANNOTATE_ROW(cost.self),   \
      .means = "What was spent there, without what it called from there." },                 \
    { .name = "total", .type = CLI_TYPE_VALUE, .get = cli_get_u64,                           \
      ANNOTATE_ROW(cost.total),                                                              \
      .means = "What was spent there and in what it called from there." }
#define ANNOTATE_COLUMN_TEXT                                                                 \
    { .name = "text", .type = CLI_TYPE_TEXT, .get = cli_get_cell, ANNOTATE_ROW(text),        \
      .means = "The operation, or the source of the line." }

static const struct cli_column annotate_columns[] = {
    { .name = "what", .type = CLI_TYPE_WORD, .get = cli_get_string, ANNOTATE_ROW(what) },
    ANNOTATE_COLUMN_FILE, ANNOTATE_COLUMN_LINE, ANNOTATE_COLUMN_PC, ANNOTATE_COLUMN_COST,
    ANNOTATE_COLUMN_TEXT, { 0 }
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
                              const struct jsp_annotate_line *line)
{
    struct annotate_row row = { .what = "line", .file = annotate_own_file(a),
                                .line = line->line, .pc = cli_cell_none(),
                                .cost = line->cost };
    if (line->file)
        row.file = a->capture.profile.files[line->file];
    row.text.text = line->file ? cli_span("") : cli_source_line(&a->source, line->line);
    cli_table_row(t, &row);
}

static void annotate_put_row(const struct cli_annotate *a, struct cli_table *t, uint32_t i)
{
    const struct jsp_bytecode *code = &a->result.code;
    const struct jsp_bytecode_row *r = &code->rows[i];
    struct annotate_row row = { .what = "row", .file = annotate_own_file(a), .line = r->line,
                                .ends = r->ends, .pc = cli_cell_u64(r->pc),
                                .text = cli_cell_text(r->text),
                                .cost = a->result.rows[i] };
    row.targets.numbers.at = code->targets + r->first_target;
    row.targets.numbers.n = r->n_targets;
    cli_table_row(t, &row);
}

int cli_annotate_rows(const struct cli_annotate *a, const struct cli_form *form)
{
    const struct jsp_annotate *r = &a->result;
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = form, .command = "annotate",
        .columns = annotate_columns, .document = &cli_annotate_document, .head = a,
        .of = a, .capture = &a->capture });
    if (!t)
        return CLI_FAILED;
    for (uint32_t i = 0; i < r->n_lines; i++)
        annotate_put_line(a, t, &r->lines[i]);
    cli_table_next(t);
    for (uint32_t i = 0; i < r->code.n; i++)
        annotate_put_row(a, t, i);
    return cli_table_close(t);
}
