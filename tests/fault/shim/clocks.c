/* clocks.c - for LD_PRELOAD: whoever asks for the time of day gets another hour each time, forwards
 * and back, as if somebody set the clock; and the time since boot jumps as after a suspend.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The C library's own time() does not call clock_gettime. */
time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    static long n;
    int err = (int)syscall(SYS_clock_gettime, clock, out);
    if (err == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        out->tv_sec += ++n % 2 ? 3600 * n : -3600 * n;
    if (err == 0 && clock == CLOCK_BOOTTIME)
        out->tv_sec += 3600 * ++n;
    return err;
}
