/* annotate_json.c - a function from inside as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/annotate.h"
#include "cli/options.h"
#include "cli/outfile.h"
#include "export/json.h"

static void json_cost(struct jsp_json *j, const struct jsp_annotate_cost *cost)
{
    jsp_json_key_u64(j, "self", cost->self);
    jsp_json_key_u64(j, "total", cost->total);
}

static void json_head(struct jsp_json *j, const struct cli_annotate *a)
{
    const struct jsp_annotate *r = &a->result;
    jsp_json_key_text(j, "capture", a->capture.label);
    jsp_json_key_text(j, "function", a->function->name);
    jsp_json_key_text(j, "module", a->function->module);
    jsp_json_key_text(j, "file", a->file ? a->file : "");
    jsp_json_key_u64(j, "line", a->line);
    jsp_json_key_text(j, "unit", jsp_unit_key(a->capture.profile.unit));
    jsp_json_key_u64(j, "all", r->value);
    jsp_json_key_u64(j, "self", r->self);
    jsp_json_key_u64(j, "total", r->total);
    jsp_json_key_u64(j, "self_samples", r->self_samples);
    jsp_json_key_u64(j, "total_samples", r->total_samples);
    jsp_json_key_bool(j, "has_listing", r->code.is_there);
    jsp_json_key_bool(j, "listing_is_shared", r->code.is_shared);
}

static void json_lines(struct jsp_json *j, const struct cli_annotate *a)
{
    jsp_json_key_open(j, "lines", '[');
    for (uint32_t i = 0; i < a->result.n_lines; i++) {
        const struct jsp_annotate_line *line = &a->result.lines[i];
        const char *own = a->file ? a->file : "";
        jsp_json_open(j, '{');
        jsp_json_key_text(j, "file", line->file ? a->capture.profile.files[line->file] : own);
        jsp_json_key_u64(j, "line", line->line);
        json_cost(j, &line->cost);
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
}

static void json_rows(struct jsp_json *j, const struct cli_annotate *a)
{
    const struct jsp_bytecode *code = &a->result.code;
    jsp_json_key_open(j, "rows", '[');
    for (uint32_t i = 0; i < code->n; i++) {
        const struct jsp_bytecode_row *row = &code->rows[i];
        jsp_json_open(j, '{');
        jsp_json_key_u64(j, "pc", row->pc);
        jsp_json_key_u64(j, "line", row->line);
        jsp_json_key(j, "text");
        jsp_json_bytes(j, row->text.at, row->text.len);
        jsp_json_key_bool(j, "ends", row->ends);
        jsp_json_key_open(j, "targets", '[');
        for (uint32_t t = 0; t < row->n_targets; t++)
            jsp_json_u64(j, code->targets[row->first_target + t]);
        jsp_json_close(j, ']');
        json_cost(j, &a->result.rows[i]);
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
}

int cli_annotate_json(const struct cli_annotate *a)
{
    struct cli_outfile out;
    struct jsp_json j;
    if (cli_outfile_open(&out, "-"))
        return CLI_FAILED;
    jsp_json_init(&j, &out.sink);
    jsp_json_open(&j, '{');
    json_head(&j, a);
    json_lines(&j, a);
    json_rows(&j, a);
    jsp_json_close(&j, '}');
    jsp_sink_byte(&out.sink, '\n');
    return cli_outfile_close(&out, CLI_OK);
}
