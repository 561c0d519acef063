/* cli/threads.h - describing the threads of a profile.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_THREADS_H
#define JSP_CLI_THREADS_H

#include "open.h"

/* Return the name of the thread from the recording, or "". */
const char *cli_thread_name(const struct jsp_thread_info *t);

/* Write a value in the profile's unit: a duration, or a count of samples. */
const char *cli_value(char out[CLI_NUMBER], const struct jsp_profile *p, uint64_t value);

#endif
