/* session/calls_counter.h - the processor's counter, one small file an architecture.
 *
 * jsp_counter_now reads it; jsp_counter_is_steady says whether it runs at one rate on all
 * processors, whatever they do.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_CALLS_COUNTER_H
#define JSP_SESSION_CALLS_COUNTER_H

#if defined(__x86_64__)
#include "calls_counter_x86_64.h"
#elif defined(__aarch64__)
#include "calls_counter_aarch64.h"
#else
#error "jsprof knows x86-64 and aarch64"
#endif

#endif
