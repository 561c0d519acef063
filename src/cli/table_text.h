/* cli/table_text.h - a table that is being printed, and its text.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_TABLE_TEXT_H
#define JSP_CLI_TABLE_TEXT_H

#include "table.h"
#include "export/json.h"

enum { CLI_TABLE_COLUMNS = 48 };

struct cli_table {
    struct cli_show show;
    struct cli_style style;
    bool is_terminal;
    /* Text: the columns from left to right, and the line so far. */
    const struct cli_column *order[CLI_TABLE_COLUMNS];
    int n, used, pending;
    /* Programs. */
    struct jsp_sink sink;
    struct jsp_json json;
    int list; /* the one that is open */
};

/* Print the heads of the columns. */
void cli_table_text_open(struct cli_table *t);

/* Print one row. */
void cli_table_text_row(struct cli_table *t, const void *row);

#endif
