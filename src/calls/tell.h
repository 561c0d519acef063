/* calls/tell.h - room for what jsp_calls_write gathers; see calls.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_TELL_H
#define JSP_CALLS_TELL_H

enum { JSP_CALLS_BUFFER = 1 << 15 }; /* bytes of jsprof/calls before they become a chunk */

#endif
