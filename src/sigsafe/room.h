/* sigsafe/room.h - the door of the signal-safe room.
 *
 * Every file in src/sigsafe/ may run inside the SIGPROF handler. Each one includes this
 * header and no other system header. This header includes the few libc headers that the
 * room needs. While a file of the room itself is compiled (only then the Makefile defines
 * JSP_IN_ROOM), it also makes the dangerous names uncompilable. tests/check/rooms.sh
 * proves the same on the object files.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_ROOM_H
#define JSP_SIGSAFE_ROOM_H

#include <errno.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "jsprof.h"

#ifdef JSP_IN_ROOM
#pragma GCC poison malloc calloc realloc free strdup
#pragma GCC poison printf fprintf snprintf vsnprintf puts perror
#pragma GCC poison pthread_mutex_lock pthread_mutex_unlock pthread_getspecific
#pragma GCC poison backtrace dladdr dlsym dl_iterate_phdr getenv syslog abort exit
#pragma GCC poison strerror localtime setjmp longjmp alloca assert
#endif

#define JSP_CACHELINE 64

/* Add to a counter that one thread writes and any thread reads. */
static inline void jsp_count(_Atomic uint64_t *counter, uint64_t n)
{
    /* ORDER: relaxed. One writer; a statistic that publishes nothing. */
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    /* ORDER: relaxed. As above. */
    atomic_store_explicit(counter, now + n, memory_order_relaxed);
}

/* Return the counter's value. Any thread. */
static inline uint64_t jsp_counted(const _Atomic uint64_t *counter)
{
    /* ORDER: relaxed. A statistic. */
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Return the clock's time, or 0 if the clock is gone: the CPU clock of a thread that
 * exited. */
static inline uint64_t jsp_now_ns(clockid_t clock)
{
    struct timespec ts = { 0, 0 };
    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
