/* cli/calls.h - the parts of `jsprof calls`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_CALLS_H
#define JSP_CLI_CALLS_H

#include <regex.h>

#include "analyze/exact.h"
#include "analyze/exact_compare.h"
#include "cli/open.h"
#include "cli/table.h"

struct cli_calls {
    struct cli_capture capture;
    struct jsp_exact calls;
    struct jsp_read_text command; /* of the process; empty: not known */
    bool is_over;                 /* the recording was completed */
};

/* Which functions are shown, and edges that lead to one or away from one. */
struct cli_calls_keep {
    regex_t only, file;
    bool has_only, has_file;
    double min; /* share of 1 */
};

struct cli_calls_ask {
    enum jsp_exact_sort sort;
    uint32_t limit; /* rows; 0: all */
    bool has_edges;
    struct cli_form form;
    struct cli_calls_keep keep;
};

/* The words that were given, NULL: was not. CLI_OK; else it has been said. */
int cli_calls_keep_open(struct cli_calls_keep *k, const char *only, const char *file,
                        const char *min);
void cli_calls_keep_close(struct cli_calls_keep *k);

/* Empty what is not to be shown. -ENOMEM. */
int cli_calls_keep(const struct cli_calls_keep *k, struct jsp_exact *c);

/* Functions of two captures, whose names are chosen, side by side; --min is asked of both,
 * and one that has its share in either is shown with what it has in each. -ENOMEM. */
int cli_calls_pairs(struct jsp_exact_pair **out, uint32_t *n, const struct cli_calls *first,
                    const struct cli_calls *second, const struct cli_calls_ask *ask);

/* In the form that was asked for. The exit status. */
int cli_calls_table(const struct cli_calls *c, const struct cli_calls_ask *ask);
int cli_calls_compare(const struct cli_calls *first, const struct cli_calls *second,
                      const struct cli_calls_ask *ask);

extern const struct cli_document cli_calls_document, cli_calls_compare_document;

/* The columns of a struct cli_calls. */
extern const struct cli_column cli_calls_summary[];

/* The names of the bits of `modes`; they end with NULL. */
extern const char *const cli_calls_modes[];

/* What limits these figures, a line each on standard output. */
void cli_calls_notes(const struct cli_calls *c);

/* "counts, time, allocation, edges", as far as they were on at any time. */
void cli_calls_modes_text(char out[64], uint64_t modes);

#endif
