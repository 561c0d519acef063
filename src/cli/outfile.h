/* cli/outfile.h - the file that a command writes.
 *
 * SPDX-License-Identifier: MIT
 *
 * A file that is there is replaced only by a whole new one: it is written aside, in the
 * same folder, and renamed at the end; where that never comes, also by a signal,
 * nothing is left behind. "-" is standard output, and what is not a regular file (a
 * pipe, a device) is written to as it is. A reader that went away is no error. Failures
 * are one line on standard error. One at a time, one thread.
 */
#ifndef JSP_CLI_OUTFILE_H
#define JSP_CLI_OUTFILE_H

#include <stdbool.h>

#include "export/sink.h"

struct cli_outfile {
    struct jsp_sink sink; /* write here */
    const char *label;    /* for people: the path, or "standard output" */
    char *target, *aside; /* owned; NULL: written to as it is */
    int fd;
};

/* Check that the output neither replaces nor extends a file that is read, by any path or
 * through standard input or output. CLI_OK, or CLI_FAILED, which is reported. */
int cli_outfile_spares(const char *output, const char *const *inputs, int n);

/* Open the file. CLI_OK, or CLI_FAILED: the error is reported and nothing is open. */
int cli_outfile_open(struct cli_outfile *o, const char *path);

/* Move the file to its place if `status`, the result of the writing, is CLI_OK. Otherwise
 * remove it. Return the status of everything. */
int cli_outfile_close(struct cli_outfile *o, int status);

#endif
