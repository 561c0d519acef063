/* calls/counter.h - the processor's counter and what else an event of a few ns
 * needs in single instructions, one small file an architecture.
 *
 * jsp_counter_now reads it; jsp_counter_is_steady says whether it runs at one rate on all
 * processors, whatever they do. jsp_counter_thread is a pointer that no other thread has;
 * jsp_counter_add adds to what this thread alone writes and others may read.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_COUNTER_H
#define JSP_CALLS_COUNTER_H

#if defined(__x86_64__)
#include "counter_x86_64.h"
#elif defined(__aarch64__)
#include "counter_aarch64.h"
#else
#error "jsprof knows x86-64 and aarch64"
#endif

/* What only this thread writes, without the order of an atomic, that others need. */
static inline uint64_t jsp_counter_own(const _Atomic uint64_t *word)
{
    return *(const uint64_t *)(const void *)word;
}

#endif
