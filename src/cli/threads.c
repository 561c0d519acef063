/* cli/threads.c - describing the threads of a profile.
 *
 * SPDX-License-Identifier: MIT
 */
#include "threads.h"

const char *cli_thread_name(const struct jsp_thread_info *t)
{
    return t->losses ? t->losses->name : "";
}

const char *cli_value(char out[CLI_NUMBER], const struct jsp_profile *p, uint64_t value)
{
    return p->unit == JSP_VALUE_COUNT    ? cli_count(out, value)
           : jsp_unit_is_bytes(p->unit) ? cli_bytes(out, value)
                                        : cli_duration(out, value);
}
