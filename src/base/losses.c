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

uint64_t jsp_losses_unasked(const uint64_t lost[JSP_N_LOSSES])
{
    uint64_t sum = 0;
    for (int cause = 0; cause < JSP_N_LOSSES; cause++)
        sum += jsp_losses[cause].is_asked ? 0 : lost[cause];
    return sum;
}

#define LOSSES_COPY(CAUSE, cause, asked, name, meaning) \
    lost[JSP_LOST_##CAUSE] = stats->lost_##cause;

void jsp_losses_of_stats(uint64_t lost[JSP_N_LOSSES], const jsprof_stats *stats)
{
    JSP_LOSSES(LOSSES_COPY)
}
