/* cli/nearest.c - the word that somebody who mistyped another one probably meant.
 *
 * SPDX-License-Identifier: MIT
 */
#include "nearest.h"

#include <string.h>

enum { NEAREST_LENGTH = 24 };

static unsigned nearest_least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Return the number of mistakes between two words of at most NEAREST_LENGTH letters. */
static unsigned nearest_distance(const char *a, size_t n, const char *b, size_t m)
{
    unsigned rows[NEAREST_LENGTH + 1][NEAREST_LENGTH + 1];
    for (unsigned i = 0; i <= n; i++)
        for (unsigned j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                rows[i][j] = i + j;
                continue;
            }
            unsigned least = nearest_least(rows[i - 1][j], rows[i][j - 1]) + 1;
            least = nearest_least(least, rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                least = nearest_least(least, rows[i - 2][j - 2] + 1);
            rows[i][j] = least;
        }
    return rows[n][m];
}

void cli_nearest_try(struct cli_nearest *n, const char *candidate)
{
    size_t len = strlen(candidate);
    if (n->len > NEAREST_LENGTH || len > NEAREST_LENGTH)
        return;
    unsigned distance = nearest_distance(n->word, n->len, candidate, len);
    if (distance * 3 <= n->len && (!n->best || distance < n->distance)) {
        n->best = candidate;
        n->distance = distance;
    }
}
