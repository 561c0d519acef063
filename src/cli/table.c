/* cli/table.c - the rows that a command prints: as CSV, as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "pager.h"

int cli_form_check(const char *command, const struct cli_form *f)
{
    return f->is_csv && f->is_json
               ? cli_usage(command, "--csv and --json exclude each other")
               : CLI_OK;
}

int cli_table_write(void *context, const void *bytes, size_t n)
{
    (void)context;
    return fwrite(bytes, 1, n, stdout) == n ? 0 : -EIO; /* main reports which error */
}

static bool table_has(const struct cli_table *t, const struct cli_column *c, unsigned form)
{
    return c->name && (!c->in || c->in & form) && (!c->when || c->when(t->show.of));
}

static void json_columns(struct cli_table *t, const struct cli_column *columns,
                         const void *row);

static void json_cell(struct cli_table *t, const struct cli_column *c,
                      const struct cli_cell *cell)
{
    struct jsp_json *j = &t->json;
    if (cell->is_none) {
        jsp_json_null(j);
        return;
    }
    switch (c->type) {
    case CLI_TYPE_TEXT:
    case CLI_TYPE_WORD: jsp_json_bytes(j, cell->text.at, cell->text.len); break;
    case CLI_TYPE_COUNT:
    case CLI_TYPE_VALUE:
    case CLI_TYPE_NS:
    case CLI_TYPE_EXACT_NS:
    case CLI_TYPE_BYTES: jsp_json_u64(j, cell->u64); break;
    case CLI_TYPE_INTEGER:
    case CLI_TYPE_TIME: jsp_json_i64(j, cell->i64); break;
    case CLI_TYPE_SHARE:
    case CLI_TYPE_REAL: jsp_json_double(j, cell->real); break;
    case CLI_TYPE_BOOL: jsp_json_bool(j, cell->yes); break;
    case CLI_TYPE_WORDS:
        jsp_json_open(j, '[');
        for (int i = 0; c->words[i]; i++)
            if (cell->u64 >> i & 1)
                jsp_json_text(j, c->words[i]);
        jsp_json_close(j, ']');
        break;
    case CLI_TYPE_NUMBERS:
        jsp_json_open(j, '[');
        for (uint32_t i = 0; i < cell->numbers.n; i++)
            jsp_json_u64(j, cell->numbers.at[i]);
        jsp_json_close(j, ']');
        break;
    case CLI_TYPE_OBJECT:
        jsp_json_open(j, '{');
        json_columns(t, c->columns, cell->object);
        jsp_json_close(j, '}');
        break;
    case CLI_TYPE_BAR: break;
    }
}

static void json_columns(struct cli_table *t, const struct cli_column *columns,
                         const void *row)
{
    for (const struct cli_column *c = columns; !cli_column_is_end(c); c++) {
        if (!table_has(t, c, CLI_IN_JSON))
            continue;
        struct cli_cell cell = c->get(c, t->show.of, row);
        jsp_json_key(&t->json, c->name);
        json_cell(t, c, &cell);
    }
}

static void json_row(struct cli_table *t, const void *row)
{
    const struct cli_document *d = t->show.document;
    struct jsp_json *j = &t->json;
    if (!d->is_one_line) { /* the comma ends the line before */
        if (j->has_before)
            jsp_sink_byte(&t->sink, ',');
        j->has_before = false;
        jsp_sink_byte(&t->sink, '\n');
    }
    jsp_json_open(j, '{');
    json_columns(t, d->lists[t->list].columns, row);
    jsp_json_close(j, '}');
}

static void json_list_end(struct cli_table *t)
{
    if (!t->show.document->is_one_line)
        jsp_sink_byte(&t->sink, '\n');
    jsp_json_close(&t->json, ']');
}

void cli_table_next(struct cli_table *t)
{
    if (!t->show.form->is_json)
        return;
    json_list_end(t);
    jsp_json_key_open(&t->json, t->show.document->lists[++t->list].name, '[');
}

static void csv_text(struct cli_table *t, struct cli_span text)
{
    char *clean = t->is_terminal ? cli_clean(&t->style, text) : NULL;
    if (clean)
        text = cli_span(clean);
    jsp_sink_byte(&t->sink, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '"')
            jsp_sink_byte(&t->sink, '"');
        jsp_sink_byte(&t->sink, text.at[i]);
    }
    jsp_sink_byte(&t->sink, '"');
    free(clean);
}

/* CSV writes numbers as JSON does; one that is not finite is empty. */
static void csv_cell(struct cli_table *t, const struct cli_column *c,
                     const struct cli_cell *cell)
{
    struct jsp_json bare;
    if (cell->is_none)
        return;
    switch (c->type) {
    case CLI_TYPE_TEXT: csv_text(t, cell->text); break;
    case CLI_TYPE_WORD: jsp_sink_put(&t->sink, cell->text.at, cell->text.len); break;
    case CLI_TYPE_COUNT:
    case CLI_TYPE_VALUE:
    case CLI_TYPE_NS:
    case CLI_TYPE_EXACT_NS:
    case CLI_TYPE_BYTES: jsp_sink_u64(&t->sink, cell->u64); break;
    case CLI_TYPE_INTEGER:
    case CLI_TYPE_TIME: jsp_sink_i64(&t->sink, cell->i64); break;
    case CLI_TYPE_SHARE:
    case CLI_TYPE_REAL:
        jsp_json_init(&bare, &t->sink);
        if (isfinite(cell->real))
            jsp_json_double(&bare, cell->real);
        break;
    case CLI_TYPE_BOOL: jsp_sink_byte(&t->sink, cell->yes ? '1' : '0'); break;
    case CLI_TYPE_BAR:
    case CLI_TYPE_WORDS:
    case CLI_TYPE_NUMBERS:
    case CLI_TYPE_OBJECT: break;
    }
}

/* A line of names (`row` NULL) or of one row. */
static void csv_row(struct cli_table *t, const void *row)
{
    int n = 0;
    for (const struct cli_column *c = t->show.columns; !cli_column_is_end(c); c++) {
        if (!table_has(t, c, CLI_IN_CSV))
            continue;
        if (n++)
            jsp_sink_byte(&t->sink, ',');
        if (!row) {
            jsp_sink_text(&t->sink, c->name);
            continue;
        }
        struct cli_cell cell = c->get(c, t->show.of, row);
        csv_cell(t, c, &cell);
    }
    jsp_sink_byte(&t->sink, '\n');
}

/* -- Any form --------------------------------------------------------------- */

struct cli_table *cli_table_open(const struct cli_show *show)
{
    struct cli_table *t = calloc(1, sizeof *t);
    if (!t) {
        cli_fail(show->capture ? show->capture->label : "standard output", "%s",
                 strerror(ENOMEM));
        return NULL;
    }
    t->show = *show;
    t->style = show->capture ? show->capture->style : cli_style_get();
    t->is_terminal = isatty(cli_terminal());
    jsp_sink_init(&t->sink, cli_table_write, NULL);
    if (show->form->is_json) {
        const struct cli_document *d = show->document;
        jsp_json_init(&t->json, &t->sink);
        jsp_json_open(&t->json, '{');
        jsp_json_key_text(&t->json, "command", show->command);
        if (d->head)
            json_columns(t, d->head, show->head);
        jsp_json_key_open(&t->json, d->lists[0].name, '[');
    } else if (show->form->is_csv) {
        csv_row(t, NULL);
    } else {
        cli_table_text_open(t);
    }
    return t;
}

void cli_table_row(struct cli_table *t, const void *row)
{
    if (t->show.form->is_json)
        json_row(t, row);
    else if (t->show.form->is_csv)
        csv_row(t, row);
    else
        cli_table_text_row(t, row);
}

int cli_table_close(struct cli_table *t)
{
    if (!t)
        return CLI_FAILED;
    if (t->show.form->is_json) {
        json_list_end(t);
        jsp_json_close(&t->json, '}');
        jsp_sink_byte(&t->sink, '\n');
    }
    jsp_sink_flush(&t->sink);
    free(t);
    return CLI_OK;
}
