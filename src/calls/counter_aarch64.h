/* calls/counter_aarch64.h - the virtual counter; see counter.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_COUNTER_AARCH64_H
#define JSP_CALLS_COUNTER_AARCH64_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Return the processor's counter. */
static inline uint64_t jsp_counter_now(void)
{
    uint64_t now;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
}

/* Return a pointer that is unique to this thread, without a system call. */
static inline const void *jsp_counter_thread(void)
{
    const void *self;
    __asm__("mrs %0, tpidr_el0" : "=r"(self));
    return self;
}

/* Add to a word that this thread alone writes. */
static inline void jsp_counter_add(_Atomic uint64_t *word, uint64_t by)
{
    /* ORDER: relaxed, both. Only one thread writes the word. */
    uint64_t now = atomic_load_explicit(word, memory_order_relaxed);
    atomic_store_explicit(word, now + by, memory_order_relaxed); /* ORDER: relaxed, above */
}

/* The architecture guarantees it. */
static inline bool jsp_counter_is_steady(void)
{
    return true;
}

#endif
