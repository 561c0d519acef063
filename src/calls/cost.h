/* calls/cost.h - the cost of one enter and one leave. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_COST_H
#define JSP_CALLS_COST_H

#include "table.h"

/* Measure the cost for these modes on this clock, in about a millisecond; all 0 if the
 * modes do not count time. Return 0 or -ENOMEM. */
int jsp_calls_cost_measure(const struct jsp_calls_clock *clock, struct jsp_calls_epoch *epoch);

#endif
