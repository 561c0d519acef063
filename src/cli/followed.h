/* cli/followed.h - the captures that a command has read, for the process that follows them.
 *
 * One process reads the captures, and its parent waits until they grow: both share this memory.
 * One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_FOLLOWED_H
#define JSP_CLI_FOLLOWED_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CLI_FOLLOWED = 8 };

struct cli_followed {
    char path[PATH_MAX];
    dev_t dev;
    ino_t ino;
    uint64_t size;  /* bytes that were read; 0: it could not be read */
    bool is_closed; /* the writer had completed it */
};

struct cli_follows {
    struct cli_followed at[CLI_FOLLOWED];
    uint32_t n;
    bool is_full; /* there were more */
};

/* Begin: map the memory that a forked child shares. It lives as long as the process. NULL: no
 * memory. */
struct cli_follows *cli_followed_start(void);

/* Note that the capture at `path` will be read. Nothing happens without cli_followed_start. */
void cli_followed_open(const char *path);

/* Note that so many bytes of the capture were read, and whether it has its end. Nothing
 * happens without cli_followed_start. */
void cli_followed_read(uint64_t size, bool is_closed);

/* Return true if captures are followed. */
bool cli_followed_is_on(void);

#endif
