/* export/callgrind_tables.c - functions, costs and calls on their way to a callgrind file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "callgrind.h"

struct callgrind_function *callgrind_function_add(struct callgrind *c)
{
    if (jsp_grow(&c->functions, &c->functions_room, c->n_functions,
                 sizeof *c->functions) < 0)
        return NULL;
    c->functions[c->n_functions] = (struct callgrind_function){ 0 };
    return &c->functions[c->n_functions++];
}

struct callgrind_self *callgrind_self_add(struct callgrind *c)
{
    if (jsp_grow(&c->selves, &c->selves_room, c->n_selves, sizeof *c->selves) < 0)
        return NULL;
    c->selves[c->n_selves] = (struct callgrind_self){ 0 };
    return &c->selves[c->n_selves++];
}

struct callgrind_call *callgrind_call_add(struct callgrind *c)
{
    if (jsp_grow(&c->calls, &c->calls_room, c->n_calls, sizeof *c->calls) < 0)
        return NULL;
    c->calls[c->n_calls] = (struct callgrind_call){ 0 };
    return &c->calls[c->n_calls++];
}

/* -- Names ------------------------------------------------------------------ */
