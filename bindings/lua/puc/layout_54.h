/* layout_54.h - PUC Lua 5.4, since 5.4.3; see layout.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "puc/layout.h"

static const struct lua_layout layout = {
    LAYOUT_SINCE_52, LAYOUT_SINCE_54,
    .version = "5.4", .first_release = 3,
    .status = 10, .main_thread = 264,
    .fresh_bit = 1 << 2, .fresh_value = 1 << 2, .tail_bit = 1 << 5,
};
