/* calls/counter_x86_64.h - the time stamp counter; see counter.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_COUNTER_X86_64_H
#define JSP_CALLS_COUNTER_X86_64_H

#include <cpuid.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "image/descriptor.h"

/* Return the processor's counter. */
static inline uint64_t jsp_counter_now(void)
{
    return __builtin_ia32_rdtsc();
}

/* Return a pointer that is unique to this thread, without a system call. */
static inline const void *jsp_counter_thread(void)
{
    /* the ABI stores it there; reading it again is cheaper than keeping it */
    const void *self;
    __asm__ volatile("mov %%fs:0, %0" : "=r"(self));
    return self;
}

/* Add to a word that this thread alone writes, in one instruction; compilers would make three. */
static inline void jsp_counter_add(_Atomic uint64_t *word, uint64_t by)
{
    __asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(by) : "cc");
}

/* Steady means that the processor reports it as invariant and that the kernel, which
 * watches it on all processors, has not rejected it as a clock. */
static inline bool jsp_counter_is_steady(void)
{
    unsigned a, b, c, d = 0;
    char clocks[128] = "";
    if (!__get_cpuid(0x80000007u, &a, &b, &c, &d) || !(d & 1u << 8))
        return false;
    int fd = jsp_descriptor_open(
        "/sys/devices/system/clocksource/clocksource0/available_clocksource", O_RDONLY, 0);
    ssize_t n = fd < 0 ? -1 : read(fd, clocks, sizeof clocks - 1);
    if (fd >= 0)
        close(fd);
    return n > 0 && strstr(clocks, "tsc");
}

#endif
