/* base/states.c - the table of states as data; see states.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "states.h"

#define STATES_ROW(STATE, key, name) { key, name },

const struct jsp_state_row jsp_states[JSP_N_STATES] = { JSP_STATES(STATES_ROW) };

#define STATES_NAME(KIND, name) name,

const char *const jsp_state_on[JSP_N_STATE_ON] = { "", JSP_STATES_FILES(STATES_NAME) };
