/* cli/functions.h - the functions of a capture, or groups of them, as rows.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_FUNCTIONS_H
#define JSP_CLI_FUNCTIONS_H

#include "open.h"

struct cli_functions {
    jsprof_read_function *rows; /* owned; their texts live as long as the capture is open */
    uint64_t n;
    jsprof_read_sum sum;        /* of the samples that count */
};

/* Read them all. CLI_OK; or CLI_FAILED, which is reported. Free them in any case. */
int cli_functions_open(struct cli_functions *f, const struct cli_capture *c,
                       const jsprof_read_order *order);

/* Do the same, and return 0 or a negative errno, which is described in `error`. */
int cli_functions_read(struct cli_functions *f, const struct cli_capture *c,
                       const jsprof_read_order *order, jsprof_read_error *error);

/* Free the rows. */
void cli_functions_free(struct cli_functions *f);

/* Return the part of the whole. */
static inline double cli_functions_share(const struct cli_functions *f, uint64_t value)
{
    return f->sum.value ? (double)value / (double)f->sum.value : 0;
}

#endif
