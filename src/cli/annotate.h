/* cli/annotate.h - the parts of `jsprof annotate`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_ANNOTATE_H
#define JSP_CLI_ANNOTATE_H

#include "analyze/annotate.h"
#include "open.h"
#include "analyze/source.h"
#include "table.h"

struct cli_annotate {
    struct cli_capture capture;
    struct jsp_annotate result;
    const struct jsp_function *function;
    char *file;              /* the source file of the lines; NULL: not known */
    uint32_t line;           /* of its definition; 0: not known */
    const char *directory;   /* to look for sources in, or NULL */
    struct jsp_source source;
};

/* Print the tables of the text; print what programs get. Return the exit status. */
int cli_annotate_tables(const struct cli_annotate *a, const struct cli_form *form);
int cli_annotate_rows(const struct cli_annotate *a, const struct cli_form *form);
extern const struct cli_document cli_annotate_document;
void cli_annotate_dot(const struct cli_annotate *a);

#endif
