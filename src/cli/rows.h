/* cli/rows.h - an answer for a program: the same rows as CSV or as JSON.
 *
 * SPDX-License-Identifier: MIT
 *
 * CSV is a line of names and a line for each row. JSON is one object: what was asked of
 * which capture, then "rows", an array of objects with the same names. Names from the
 * capture are exact, JSON escapes what could harm; CSV is made harmless only where a
 * terminal is its reader. One at a time, to standard output, one thread.
 */
#ifndef JSP_CLI_ROWS_H
#define JSP_CLI_ROWS_H

#include "cli/open.h"
#include "export/json.h"

struct cli_rows_wish { /* the options --csv and --json */
    bool is_csv, is_json;
};

#define CLI_ROWS_OPTIONS(w) \
    { "csv", &(w)->is_csv, NULL, NULL }, { "json", &(w)->is_json, NULL, NULL }

#define CLI_ROWS_HELP "  --csv, --json    for programs\n"

struct cli_rows {
    struct jsp_sink sink;
    struct jsp_json json;
    const char *const *columns; /* end in NULL */
    int at;                     /* of the next value in its row */
    bool is_json, is_terminal;
    struct cli_style style;
};

static inline bool cli_rows_wanted(const struct cli_rows_wish *w)
{
    return w->is_csv || w->is_json;
}

/* CLI_USAGE, said, where both were wished for. */
int cli_rows_check(const char *command, const struct cli_rows_wish *w);

/* Begin; `c` NULL: of several captures or none. */
struct cli_rows *cli_rows_open(const struct cli_rows_wish *w, const struct cli_capture *c,
                               const char *command, const char *const *columns);

/* Values in the order of the columns; a row ends with its last column. */
void cli_rows_text(struct cli_rows *r, struct cli_span text);
void cli_rows_word(struct cli_rows *r, const char *text);
void cli_rows_u64(struct cli_rows *r, uint64_t n);
void cli_rows_i64(struct cli_rows *r, int64_t n);
void cli_rows_real(struct cli_rows *r, double n);
void cli_rows_none(struct cli_rows *r); /* empty; null */

/* End; CLI_OK, or CLI_FAILED for want of memory at the beginning (r is NULL). */
int cli_rows_close(struct cli_rows *r);

#endif
