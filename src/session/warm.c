/* session/warm.c - see session.h for the contract. The names are those of sigsafe/ALLOWED.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Call the memory functions with sizes and places that the compiler does not know;
 * otherwise it would not call them. */
static void warm_memory(void)
{
    char bytes[4] = "abc";
    volatile size_t n = 1;
    char *volatile from = bytes, *volatile at = bytes;
    volatile int sum = 0;
    memcpy(at, from + 1, n);
    memmove(at, from, n);
    memset(at, 'b', n);
    sum = memcmp(at, from, n) + strncmp(at, from, n) + (int)strnlen(at, n);
    (void)sum;
}

/* Call the others in ways that fail at once, or have no effect. */
static void warm_calls(void)
{
    timer_t none = (timer_t)(intptr_t)INT_MAX;
    struct itimerspec when = { { 0, 0 }, { 0, 0 } };
    struct timespec now;
    struct iovec empty = { NULL, 0 };
    clock_gettime(CLOCK_MONOTONIC, &now);
    timer_settime(none, 0, &when, NULL);
    process_vm_readv(getpid(), &empty, 1, &empty, 1, 0);
    syscall(SYS_gettid);
    if (write(-1, &now, 0) < 0) /* the compiler warns about an unused result */
        errno = 0;
}

void jsp_warm_libc(void)
{
    int saved_errno = errno;
    warm_memory();
    warm_calls();
    errno = saved_errno;
}
