/* layout_55.h - PUC Lua 5.5; see layout.h.
 *
 * The useful bits of `callstatus` are in its upper half, so ci_status is that half's
 * offset.
 *
 * SPDX-License-Identifier: MIT
 */
#include "puc/layout.h"

static const struct lua_layout layout = {
    LAYOUT_SINCE_52, LAYOUT_SINCE_54,
    .version = "5.5",
    .status = 11, .main_thread = 1416, .main_inside = 1, .debt_is_in_total = 1,
    .fresh_bit = 1 << 0, .fresh_value = 1 << 0, .tail_bit = 1 << 6,
    .long_elsewhere = 1, .self_is_constant = 1,
};
