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
    return cli_value_of(out, jsp_unit_key(p->unit), value);
}
