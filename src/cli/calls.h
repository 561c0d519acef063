/* cli/calls.h - the parts of `jsprof calls`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_CALLS_H
#define JSP_CLI_CALLS_H

#include "open.h"
#include "table.h"

/* What is counted, as bits; each has a word. */
enum { CLI_CALLS_COUNTS = 1, CLI_CALLS_TIME = 2, CLI_CALLS_BYTES = 4, CLI_CALLS_EDGES = 8 };

struct cli_calls {
    struct cli_capture capture; /* without samples */
    jsprof_read_calls *calls;
    jsprof_read_counted sum;
    uint64_t modes; /* what was counted at any time */
};

struct cli_calls_ask {
    uint32_t limit; /* rows; 0: all */
    bool has_edges;
    struct cli_form form;
    jsprof_read_calls_filter filter;
    jsprof_read_options how;
};

/* Print the calls in the form that the options ask for. Return the exit status. */
int cli_calls_table(const struct cli_calls *c, const struct cli_calls_ask *ask);

/* Print two captures' calls side by side, in the form that the options ask for. Return the
 * exit status. */
int cli_calls_compare(const struct cli_calls *first, const struct cli_calls *second,
                      const struct cli_calls_ask *ask);

extern const struct cli_document cli_calls_document, cli_calls_compare_document;

/* The columns of a struct cli_calls. */
extern const struct cli_column cli_calls_summary[];

/* Print what limits these figures, a line for each limit. */
void cli_calls_notes(const struct cli_calls *c);

/* Return what is counted, as bits. */
uint64_t cli_calls_modes(bool counts, bool time, bool bytes, bool edges);

/* Write them as words: "counts, time, allocation, edges". */
void cli_calls_modes_text(char out[64], uint64_t modes);

#endif
