/* session/calls_counter_aarch64.h - the virtual counter; see calls_counter.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_CALLS_COUNTER_AARCH64_H
#define JSP_SESSION_CALLS_COUNTER_AARCH64_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t jsp_counter_now(void)
{
    uint64_t now;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
}

/* The architecture promises it. */
static inline bool jsp_counter_is_steady(void)
{
    return true;
}

#endif
