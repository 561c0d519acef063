/* cli/source.h - the lines of a source file that a capture names.
 *
 * The path is a claim of the capture: only a regular file is read. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_SOURCE_H
#define JSP_CLI_SOURCE_H

#include <stdint.h>
#include <time.h>

#include "text.h"

struct cli_source {
    char *path;      /* the path where it was found; NULL: it was not */
    char *text;
    size_t *starts;  /* of each line; n_lines + 1 of them */
    uint32_t n_lines;
    time_t changed;
};

/* Read the file at the path, or else below `directory` (NULL: nowhere), by as many of the
 * last parts of the path as exist there. -ENOENT, -ENOMEM or errno; *s is then empty. */
int cli_source_read(struct cli_source *s, const char *path, const char *directory);
void cli_source_free(struct cli_source *s);

/* Return line `n`, counted from 1, without its end; empty where there is none. */
struct cli_span cli_source_line(const struct cli_source *s, uint32_t n);

#endif
