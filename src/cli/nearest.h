/* cli/nearest.h - the word that somebody who mistyped another one probably meant.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_NEAREST_H
#define JSP_CLI_NEAREST_H

#include <stddef.h>

struct cli_nearest {
    const char *word; /* what was typed; `len` bytes */
    size_t len;
    const char *best; /* the nearest so far; NULL: none is near */
    unsigned distance;
};

/* Compare one candidate, which is borrowed. A word is near where at most a third of it is
 * wrong: letters that are missing, superfluous, different, or exchanged with their neighbour. */
void cli_nearest_try(struct cli_nearest *n, const char *candidate);

#endif
