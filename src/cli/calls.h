/* cli/calls.h - the parts of `jsprof calls`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_CALLS_H
#define JSP_CLI_CALLS_H

#include <regex.h>

#include "analyze/exact.h"
#include "open.h"
#include "table.h"

struct cli_calls {
    struct cli_capture capture; /* only its names: the samples are not loaded */
    struct jsp_read read;
    struct jsp_naming *naming;
    struct jsp_exact calls;
    struct jsp_read_text command; /* the command line of the process; empty: not known */
    bool is_over;                 /* the recording was completed */
};

/* The selection of functions. An edge is shown if its caller or its callee is selected. */
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
    struct jsp_naming_options naming;
};

/* Read the values of the options; NULL: the option is absent. Return CLI_OK, or an error that
 * is reported. */
int cli_calls_keep_open(struct cli_calls_keep *k, const char *only, const char *file,
                        const char *min);
void cli_calls_keep_close(struct cli_calls_keep *k);

/* Set the costs of everything that is not selected to 0. Return 0 or -ENOMEM. */
int cli_calls_keep(const struct cli_calls_keep *k, struct jsp_exact *c);

/* Pair the functions of two captures, after the selection by name. A function that has the
 * share of --min in either capture is shown with its costs in both. Return 0 or -ENOMEM. */
int cli_calls_pairs(struct jsp_exact_pair **out, uint32_t *n, const struct cli_calls *first,
                    const struct cli_calls *second, const struct cli_calls_ask *ask);

/* Print the calls in the form that the options ask for. Return the exit status. */
int cli_calls_table(const struct cli_calls *c, const struct cli_calls_ask *ask);
int cli_calls_compare(const struct cli_calls *first, const struct cli_calls *second,
                      const struct cli_calls_ask *ask);

extern const struct cli_document cli_calls_document, cli_calls_compare_document;

/* The columns of a struct cli_calls. */
extern const struct cli_column cli_calls_summary[];

/* Print what limits these figures, a line for each limit. */
void cli_calls_notes(const struct cli_calls *c);

/* Write the modes that were on at any time: "counts, time, allocation, edges". */
void cli_calls_modes_text(char out[64], uint64_t modes);

#endif
