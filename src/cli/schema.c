/* cli/schema.c - the JSON Schema of what a command prints with --json.
 *
 * It is generated from the columns that print the JSON, so it can not differ from them. Each
 * object names all of its members and allows no others. A member is not required where its
 * column is only shown with some option.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "open.h"
#include "export/json.h"

/* What a type is in JSON, and the sentence that names its unit. */
static const struct {
    const char *type, *unit;
    bool is_from_0, is_to_1;
} schema_types[] = {
    [CLI_TYPE_TEXT] = { "string", "", false, false },
    [CLI_TYPE_WORD] = { "string", "", false, false },
    [CLI_TYPE_COUNT] = { "integer", "", true, false },
    [CLI_TYPE_INTEGER] = { "integer", "", false, false },
    [CLI_TYPE_VALUE] = { "integer", " In the `unit` of its capture.", true, false },
    [CLI_TYPE_NS] = { "integer", " In nanoseconds.", true, false },
    [CLI_TYPE_EXACT_NS] = { "integer", " In nanoseconds.", true, false },
    [CLI_TYPE_TIME] = { "integer", " In nanoseconds since the start of the capture.", false,
                         false },
    [CLI_TYPE_BYTES] = { "integer", " In bytes.", true, false },
    [CLI_TYPE_SHARE] = { "number", " A part of 1.", true, true },
    [CLI_TYPE_REAL] = { "number", " Null where it is not finite.", false, false },
    [CLI_TYPE_BOOL] = { "boolean", "", false, false },
    [CLI_TYPE_WORDS] = { "array", "", false, false },
    [CLI_TYPE_NUMBERS] = { "array", "", false, false },
    [CLI_TYPE_OBJECT] = { "object", "", false, false },
};

/* A key at the beginning of a line. */
static void schema_line(struct jsp_json *j, const char *key)
{
    if (j->has_before)
        jsp_sink_byte(j->out, ',');
    j->has_before = false;
    jsp_sink_byte(j->out, '\n');
    jsp_json_key(j, key);
}

static void schema_words(struct jsp_json *j, const char *const *words, bool may_lack)
{
    jsp_json_key_open(j, "enum", '[');
    for (int i = 0; words[i]; i++)
        jsp_json_text(j, words[i]);
    if (may_lack)
        jsp_json_null(j);
    jsp_json_close(j, ']');
}

static void schema_members(struct jsp_json *j, const char *command,
                           const struct cli_column *columns, const struct cli_list *lists);

static void schema_column(struct jsp_json *j, const struct cli_column *c)
{
    schema_line(j, c->name);
    jsp_json_open(j, '{');
    char *text = NULL;
    if (!cli_incomplete(asprintf(&text, "%s%s", c->means, schema_types[c->type].unit) < 0)) {
        jsp_json_key_text(j, "description", text);
        free(text);
    }
    const char *type = schema_types[c->type].type;
    if (c->may_lack || c->type == CLI_TYPE_REAL) {
        jsp_json_key_open(j, "type", '[');
        jsp_json_text(j, type);
        jsp_json_text(j, "null");
        jsp_json_close(j, ']');
    } else {
        jsp_json_key_text(j, "type", type);
    }
    if (schema_types[c->type].is_from_0)
        jsp_json_key_u64(j, "minimum", 0);
    if (schema_types[c->type].is_to_1)
        jsp_json_key_u64(j, "maximum", 1);
    if (c->type == CLI_TYPE_WORDS) {
        jsp_json_key_open(j, "items", '{');
        schema_words(j, c->words, false);
        jsp_json_close(j, '}');
    } else if (c->type == CLI_TYPE_NUMBERS) {
        jsp_json_key_open(j, "items", '{');
        jsp_json_key_text(j, "type", "integer");
        jsp_json_key_u64(j, "minimum", 0);
        jsp_json_close(j, '}');
    } else if (c->words) {
        schema_words(j, c->words, c->may_lack);
    }
    if (c->type == CLI_TYPE_OBJECT)
        schema_members(j, NULL, c->columns, NULL);
    jsp_json_close(j, '}');
}

static bool schema_has(const struct cli_column *c)
{
    return c->name && (!c->in || c->in & CLI_IN_JSON);
}

/* Print the members of an object: the command, columns and lists of rows. Each may be NULL. */
static void schema_members(struct jsp_json *j, const char *command,
                           const struct cli_column *columns, const struct cli_list *lists)
{
    jsp_json_key_open(j, "properties", '{');
    if (command) {
        schema_line(j, "command");
        jsp_json_open(j, '{');
        jsp_json_key_text(j, "description", "The command that was run.");
        jsp_json_key_text(j, "const", command);
        jsp_json_close(j, '}');
    }
    for (const struct cli_column *c = columns; c && !cli_column_is_end(c); c++)
        if (schema_has(c))
            schema_column(j, c);
    for (const struct cli_list *l = lists; l && l->name; l++) {
        schema_line(j, l->name);
        jsp_json_open(j, '{');
        jsp_json_key_text(j, "description", l->means);
        jsp_json_key_text(j, "type", "array");
        jsp_json_key_open(j, "items", '{');
        jsp_json_key_text(j, "type", "object");
        schema_members(j, NULL, l->columns, NULL);
        jsp_json_close(j, '}');
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, '}');
    jsp_sink_byte(j->out, ',');
    j->has_before = false;
    jsp_sink_byte(j->out, '\n');
    jsp_json_key_open(j, "required", '[');
    if (command)
        jsp_json_text(j, "command");
    for (const struct cli_column *c = columns; c && !cli_column_is_end(c); c++)
        if (schema_has(c) && !c->when)
            jsp_json_text(j, c->name);
    for (const struct cli_list *l = lists; l && l->name; l++)
        if (!l->may_lack)
            jsp_json_text(j, l->name);
    jsp_json_close(j, ']');
    jsp_json_key_bool(j, "additionalProperties", false);
}

static void schema_document(struct jsp_json *j, const char *command,
                            const struct cli_document *d)
{
    jsp_json_key_text(j, "description", d->means);
    jsp_json_key_text(j, "type", "object");
    schema_members(j, command, d->head, d->lists);
}

int cli_schema(const struct cli_command *c)
{
    struct jsp_json j;
    char title[CLI_NUMBER];
    struct jsp_sink *out = malloc(sizeof *out);
    if (!out)
        return cli_fail("standard output", "%s", strerror(ENOMEM));
    jsp_sink_init(out, cli_table_write, NULL);
    jsp_json_init(&j, out);
    snprintf(title, sizeof title, "jsprof %s --json", c->name);
    jsp_json_open(&j, '{');
    jsp_json_key_text(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    jsp_json_key_text(&j, "title", title);
    if (!c->documents[1]) {
        schema_document(&j, c->name, c->documents[0]);
    } else {
        jsp_json_key_open(&j, "anyOf", '[');
        for (int i = 0; c->documents[i]; i++) {
            jsp_json_open(&j, '{');
            schema_document(&j, c->name, c->documents[i]);
            jsp_json_close(&j, '}');
        }
        jsp_json_close(&j, ']');
    }
    jsp_json_close(&j, '}');
    jsp_sink_byte(out, '\n');
    jsp_sink_flush(out);
    free(out);
    return CLI_OK;
}
