/* cli/threads.h - choosing and describing the threads of a profile.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_THREADS_H
#define JSP_CLI_THREADS_H

#include "analyze/functions.h"
#include "open.h"

/* Flag the threads whose name or tid is `thread`, of the processes whose number, name or
 * command line is `process`; NULL: all. The caller frees the flags. Return false where there
 * are none; the existing ones are reported. */
bool cli_threads_choose(const struct cli_capture *c, const char *process,
                        const char *thread, bool **flags);

/* Return the name of the thread from the recording, or "". */
const char *cli_thread_name(const struct jsp_thread_info *t);

/* Write a value in the profile's unit: a duration, or a count of samples. */
const char *cli_value(char out[CLI_NUMBER], const struct jsp_profile *p, uint64_t value);

#endif
