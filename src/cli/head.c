/* head.c - the head of a command's JSON: which command, of which capture.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/head.h"

struct cli_head cli_head_of(const char *command, const struct cli_capture *c)
{
    return (struct cli_head){ command, c, c->profile.samples, c->profile.value };
}

static struct cli_cell head_file(CLI_OF_ROW)
{
    const struct cli_head *h = row;
    return cli_cell_string(h->capture->label);
}

#define HEAD_UNIT(CLOCK, key, unit, name, meaning) unit,
const char *const cli_head_units[] = { JSP_CLOCKS(HEAD_UNIT) "samples", NULL };

static struct cli_cell head_unit(CLI_OF_ROW)
{
    const struct cli_head *h = row;
    return cli_cell_string(jsp_unit_key(h->capture->profile.unit));
}

#define HEAD_COMMAND                                                                         \
    { .name = "command", .type = CLI_TYPE_WORD, .get = cli_get_string,                       \
      .offset = offsetof(struct cli_head, command), .is_command = true,                     \
      .means = "The command that was run." }

const struct cli_column cli_head_columns[] = {
    HEAD_COMMAND,
    { .name = "file", .type = CLI_TYPE_TEXT, .get = head_file,
      .means = "The capture as it was named, or \"standard input\"." },
    { .name = "unit", .type = CLI_TYPE_WORD, .get = head_unit, .words = cli_head_units,
      .means = "What values are made of." },
    { .name = "samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      .offset = offsetof(struct cli_head, samples), .means = "Samples in the capture." },
    { .name = "value", .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      .offset = offsetof(struct cli_head, value), .means = "The value of these samples." },
    { 0 }
};

const struct cli_column cli_head_command[] = { HEAD_COMMAND, { 0 } };
