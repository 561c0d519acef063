/* calls/cost.h - what one enter and one leave take themselves. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_COST_H
#define JSP_CALLS_COST_H

#include "table.h"

/* Measure it for these modes on this clock, in about a millisecond; all 0 where time is
 * not counted. -ENOMEM. */
int jsp_calls_cost_measure(const struct jsp_calls_clock *clock, struct jsp_calls_epoch *epoch);

#endif
