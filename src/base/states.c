/* base/states.c - the table of states as data; see states.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "states.h"

#define STATES_ROW(STATE, key, name) { key, name },

const struct jsp_state_row jsp_states[JSP_N_STATES] = { JSP_STATES(STATES_ROW) };
