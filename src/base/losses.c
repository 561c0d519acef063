/* base/losses.c - the table of losses as data; see losses.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "losses.h"

#define LOSSES_ROW(CAUSE, cause, asked, name, meaning) { "lost_" #cause, #cause, name, asked },

const struct jsp_loss_row jsp_losses[JSP_N_LOSSES] = { JSP_LOSSES(LOSSES_ROW) };

uint64_t jsp_losses_sum(const uint64_t lost[JSP_N_LOSSES])
{
    uint64_t sum = 0;
    for (int cause = 0; cause < JSP_N_LOSSES; cause++)
        sum += lost[cause];
    return sum;
}

#define LOSSES_OF_STATS(CAUSE, cause, asked, name, meaning) \
    [JSP_LOST_##CAUSE] = stats->lost_##cause,

uint64_t jsp_losses_of_stats(const jsprof_stats *stats)
{
    uint64_t lost[JSP_N_LOSSES] = { JSP_LOSSES(LOSSES_OF_STATS) };
    return jsp_losses_sum(lost);
}
