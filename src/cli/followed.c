/* cli/followed.c - see followed.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "followed.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static struct cli_follows *followed;

struct cli_follows *cli_followed_start(void)
{
    void *at = mmap(NULL, sizeof *followed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                    -1, 0);
    followed = at == MAP_FAILED ? NULL : at;
    return followed;
}

bool cli_followed_is_on(void)
{
    return followed != NULL;
}

void cli_followed_open(const char *path)
{
    struct stat is;
    size_t len = strlen(path);
    if (!followed)
        return;
    followed->is_full |= followed->n == CLI_FOLLOWED || len >= PATH_MAX;
    if (followed->is_full)
        return;
    struct cli_followed *c = &followed->at[followed->n];
    memset(c, 0, sizeof *c);
    memcpy(c->path, path, len + 1);
    if (stat(path, &is) < 0)
        return; /* the command will report it */
    c->dev = is.st_dev;
    c->ino = is.st_ino;
    followed->n++;
}

void cli_followed_read(uint64_t size, bool is_closed)
{
    if (!followed || followed->is_full || !followed->n)
        return;
    followed->at[followed->n - 1].size = size;
    followed->at[followed->n - 1].is_closed = is_closed;
}
