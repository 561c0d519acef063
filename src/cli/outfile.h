/* cli/outfile.h - the file that a command writes.
 *
 * Only a whole new file replaces an existing one: the command writes a temporary file in the
 * same folder and renames it at the end. If the command fails, or a signal ends it, it removes
 * the temporary file. The command writes directly to standard output ("-"), and to anything
 * that is not a regular file (a pipe, a device). A reader that closes the pipe is no error.
 * Each failure is one line on standard error. One file at a time, one thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_OUTFILE_H
#define JSP_CLI_OUTFILE_H

#include <stdbool.h>

#include "export/sink.h"

struct cli_outfile {
    struct jsp_sink sink; /* write here */
    const char *label;    /* for people: the path, or "standard output" */
    char *target, *aside; /* owned; NULL: the output is written directly */
    int fd;
};

/* Check that the output neither replaces nor extends a file that is read, by any path or
 * through standard input or output, and that --follow can write it again. CLI_OK, CLI_FAILED or
 * CLI_USAGE, which is reported. */
int cli_outfile_spares(const char *output, const char *const *inputs, int n);

/* Open the file. CLI_OK, or CLI_FAILED: the error is reported and nothing is open. */
int cli_outfile_open(struct cli_outfile *o, const char *path);

/* Move the file to its place if `status`, the result of the writing, is CLI_OK. Otherwise
 * remove it. Return the status of everything. */
int cli_outfile_close(struct cli_outfile *o, int status);

#endif
