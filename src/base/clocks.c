/* base/clocks.c - the table of clocks as data; see clocks.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "clocks.h"

#include <string.h>

#define CLOCKS_ROW(CLOCK, key, unit, name, meaning) \
    { JSP_CLOCK_##CLOCK, key, unit, name, meaning },

const struct jsp_clock_row jsp_clocks[JSP_N_CLOCKS] = { JSP_CLOCKS(CLOCKS_ROW) };

const struct jsp_clock_row *jsp_clock_find(const char *key)
{
    for (int clock = 0; clock < JSP_N_CLOCKS; clock++)
        if (strcmp(jsp_clocks[clock].key, key) == 0)
            return &jsp_clocks[clock];
    return NULL;
}
