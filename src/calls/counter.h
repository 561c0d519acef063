/* calls/counter.h - the processor's counter, and other single instructions for an event
 * of a few ns, in one small file for each architecture.
 *
 * jsp_counter_now reads the counter; jsp_counter_is_steady returns true if it runs at one
 * rate on all processors at all times. jsp_counter_thread returns a pointer that no other
 * thread has; jsp_counter_add adds to a word that only this thread writes and others may
 * read.
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

/* Read a word that only this thread writes; the owner needs no order of an atomic. */
static inline uint64_t jsp_counter_own(const _Atomic uint64_t *word)
{
    return *(const uint64_t *)(const void *)word;
}

#endif
