/* calls/rows.h - the buffer size of jsp_calls_write; see calls.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_ROWS_H
#define JSP_CALLS_ROWS_H

/* bytes of jsprof/calls before they become a chunk */
enum { JSP_CALLS_BUFFER = 1 << 15 };

#endif
