/* cli/annotate.h - the parts of `jsprof annotate`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_ANNOTATE_H
#define JSP_CLI_ANNOTATE_H

#include "table.h"

struct cli_annotate {
    struct cli_capture capture;
    jsprof_read_function function;
    jsprof_read_listing *listing;
    jsprof_read_inside inside;
    jsprof_read_line *lines; /* owned */
    jsprof_read_row *rows;   /* owned */
    uint64_t n_lines, n_rows;
    const char *directory;   /* to look for sources in, or NULL */
    jsprof_read_source *source; /* NULL: it was not found */
    jsprof_read_found found;
};

/* Print the tables of the text. Return the exit status. */
int cli_annotate_tables(const struct cli_annotate *a, const struct cli_form *form);

/* Print what programs get. Return the exit status. */
int cli_annotate_rows(const struct cli_annotate *a, const struct cli_form *form);
extern const struct cli_document cli_annotate_document;

/* Print the graph of the blocks, as dot reads it. */
void cli_annotate_dot(const struct cli_annotate *a);

#endif
