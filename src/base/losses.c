/* base/losses.c - the table of losses as data; see losses.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "losses.h"

#define LOSSES_ROW(CAUSE, cause, asked, name, meaning) { "lost_" #cause, #cause, name, asked },

const struct jsp_loss_row jsp_losses[JSP_N_LOSSES] = { JSP_LOSSES(LOSSES_ROW) };
