/* serve/counts.c - see counts.h for the contract.
 *
 * A recording begins with the counts of the time before, so the shortest one has them all.
 *
 * SPDX-License-Identifier: MIT
 */
#include "counts.h"

#include <string.h>
#include <unistd.h>

#include "cli/open.h"
#include "jsprof.h"

enum { COUNTS_MS = 20, COUNTS_HZ = 1 };

int serve_counts_switch(const char *command, pid_t pid, bool is_on)
{
    char line[SERVE_LINE];
    snprintf(line, sizeof line, "jsprof 1 calls session=0 modes=%d",
             is_on ? (int)JSPROF_CALLS_USUAL : 0);
    return remote_order(command, pid, line);
}

int serve_counts_take(const char *command, pid_t pid, int *fd)
{
    struct remote remote;
    const struct remote_ask ask = { .command = command, .pid = pid, .hz = COUNTS_HZ,
                                    .ms = COUNTS_MS, .clock = "cpu", .compact = true,
                                    .fd = *fd = remote_file(command) };
    bool is_whole;
    int status = *fd < 0 ? CLI_FAILED : remote_begin(&remote, &ask);
    if (status == CLI_OK)
        status = remote_wait(&remote, command, &is_whole);
    if (status && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return status;
}
