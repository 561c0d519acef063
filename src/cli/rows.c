/* rows.c - an answer for a program: the same rows as CSV or as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"

static int rows_write(void *context, const void *bytes, size_t n)
{
    (void)context;
    return fwrite(bytes, 1, n, stdout) == n ? 0 : -EIO; /* main tells what kind of */
}

int cli_rows_check(const char *command, const struct cli_rows_wish *w)
{
    return w->is_csv && w->is_json
               ? cli_usage(command, "--csv and --json exclude each other")
               : CLI_OK;
}

static void rows_head(struct cli_rows *r, const struct cli_capture *c,
                      const char *command)
{
    struct jsp_json *j = &r->json;
    jsp_json_init(j, &r->sink);
    jsp_json_open(j, '{');
    jsp_json_key_text(j, "command", command);
    if (c) {
        jsp_json_key_text(j, "file", c->label);
        jsp_json_key_text(j, "unit", jsp_unit_key(c->profile.unit));
        jsp_json_key_u64(j, "samples", c->profile.samples);
        jsp_json_key_u64(j, "value", c->profile.value);
    }
    jsp_json_key_open(j, "rows", '[');
}

static void rows_csv_head(struct cli_rows *r)
{
    for (int i = 0; r->columns[i]; i++) {
        if (i)
            jsp_sink_byte(&r->sink, ',');
        jsp_sink_text(&r->sink, r->columns[i]);
    }
    jsp_sink_byte(&r->sink, '\n');
}

struct cli_rows *cli_rows_open(const struct cli_rows_wish *w, const struct cli_capture *c,
                               const char *command, const char *const *columns)
{
    struct cli_rows *r = calloc(1, sizeof *r);
    if (!r) {
        cli_fail(c ? c->label : "standard output", "%s", strerror(ENOMEM));
        return NULL;
    }
    jsp_sink_init(&r->sink, rows_write, NULL);
    r->columns = columns;
    r->is_json = w->is_json;
    r->style = cli_style_get();
    r->is_terminal = isatty(STDOUT_FILENO);
    if (r->is_json)
        rows_head(r, c, command);
    else
        rows_csv_head(r);
    return r;
}

/* The place of the next value. */
static void rows_before(struct cli_rows *r)
{
    if (!r->is_json) {
        if (r->at)
            jsp_sink_byte(&r->sink, ',');
        return;
    }
    if (r->at == 0) {
        if (r->json.has_before)
            jsp_sink_byte(&r->sink, ',');
        r->json.has_before = false;
        jsp_sink_byte(&r->sink, '\n');
        jsp_json_open(&r->json, '{');
    }
    jsp_json_key(&r->json, r->columns[r->at]);
}

static void rows_after(struct cli_rows *r)
{
    if (r->columns[++r->at])
        return;
    r->at = 0;
    if (r->is_json)
        jsp_json_close(&r->json, '}');
    else
        jsp_sink_byte(&r->sink, '\n');
}

static void rows_quoted(struct cli_rows *r, struct cli_span text)
{
    jsp_sink_byte(&r->sink, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '"')
            jsp_sink_byte(&r->sink, '"');
        jsp_sink_byte(&r->sink, text.at[i]);
    }
    jsp_sink_byte(&r->sink, '"');
}

void cli_rows_text(struct cli_rows *r, struct cli_span text)
{
    rows_before(r);
    char *clean = !r->is_json && r->is_terminal ? cli_clean(&r->style, text) : NULL;
    if (r->is_json)
        jsp_json_bytes(&r->json, text.at, text.len);
    else
        rows_quoted(r, clean ? cli_span(clean) : text);
    free(clean);
    rows_after(r);
}

void cli_rows_word(struct cli_rows *r, const char *text)
{
    rows_before(r);
    if (r->is_json)
        jsp_json_text(&r->json, text);
    else
        jsp_sink_text(&r->sink, text);
    rows_after(r);
}

void cli_rows_u64(struct cli_rows *r, uint64_t n)
{
    rows_before(r);
    if (r->is_json)
        jsp_json_u64(&r->json, n);
    else
        jsp_sink_u64(&r->sink, n);
    rows_after(r);
}

void cli_rows_i64(struct cli_rows *r, int64_t n)
{
    rows_before(r);
    if (r->is_json)
        jsp_json_i64(&r->json, n);
    else
        jsp_sink_i64(&r->sink, n);
    rows_after(r);
}

/* CSV borrows JSON's way with numbers; what is none is left empty. */
void cli_rows_real(struct cli_rows *r, double n)
{
    struct jsp_json bare;
    rows_before(r);
    jsp_json_init(&bare, &r->sink);
    if (r->is_json)
        jsp_json_double(&r->json, n);
    else if (isfinite(n))
        jsp_json_double(&bare, n);
    rows_after(r);
}

void cli_rows_none(struct cli_rows *r)
{
    rows_before(r);
    if (r->is_json)
        jsp_json_null(&r->json);
    rows_after(r);
}

int cli_rows_close(struct cli_rows *r)
{
    if (!r)
        return CLI_FAILED;
    if (r->is_json)
        jsp_sink_text(&r->sink, "\n]}\n");
    jsp_sink_flush(&r->sink);
    free(r);
    return CLI_OK;
}
