/* cli/hints.h - what a reader of a report should look at, each with its figure and
 * the next command.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_HINTS_H
#define JSP_CLI_HINTS_H

#include <string.h>

#include "functions.h"

enum { CLI_HINTS = 3, CLI_HINT = 640 };

struct cli_hints {
    char text[CLI_HINTS][CLI_HINT]; /* sentences without their full stop */
    int n;
};

/* Look for a collector that takes a tenth of the time, for a line that takes half of it, for
 * functions without names that take a fifth of it, and for a thread without a sample. `rows`
 * are functions. In Markdown names are code spans. CLI_OK; or CLI_FAILED, which is reported. */
int cli_hints(struct cli_hints *out, struct cli_capture *c, const struct cli_functions *rows,
              bool is_markdown);

/* Return the option, with a space before it, that chooses the unit in another command. */
static inline const char *cli_measure_option(const struct cli_capture *c)
{
    return strcmp(c->info.unit, "alloc_bytes") == 0  ? " --measure alloc"
           : strcmp(c->info.unit, "live_bytes") == 0 ? " --measure live"
                                                     : "";
}

/* Return "time" or "bytes". */
static inline const char *cli_unit_noun(const struct cli_capture *c)
{
    return cli_unit_is_bytes(c->info.unit) ? "bytes" : "time";
}

#endif
