/* cli/advice.h - what to record in another way when a capture has little to show.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_ADVICE_H
#define JSP_CLI_ADVICE_H

#include "open.h"

enum { CLI_ADVICE = 256 }; /* bytes that hold any */

/* Write one sentence, without its full stop, about a capture of which all is chosen: no sample of
 * a short program, nothing but losses, threads that mostly waited, threads that ended before their
 * signals came, far fewer samples than were asked for. Return false if there is nothing to
 * advise. */
bool cli_advice(const struct cli_capture *c, char *out, size_t size);

/* Return true if so many expirations were due when their threads ended that the shares lack these
 * threads. */
bool cli_is_ended(uint64_t undelivered, uint64_t expirations);

/* Print the share of Lua where the Lua module made the recording and Lua is in a small part of
 * it, and the usual reasons. Otherwise print nothing. Return 0 or -ENOMEM. */
int cli_lua_note(const struct cli_capture *c);

#endif
