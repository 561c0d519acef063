/* interposed_host.c - a program that calls the C library all the time, and is recorded
 * without a thread of ours: `interposed_host PATH MS`. "done" is its last line.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <jsprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Half of the time is its own, where a handler may do anything. */
static int work(double ms)
{
    struct stat st;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), good = 0;
    volatile unsigned sum = 0;
    for (double until = now_ms() + ms; now_ms() < until;) {
        for (int i = 0; i < 100; i++)
            good += write(null, "x", 1) == 1 && fstat(null, &st) == 0;
        for (unsigned i = 0; i < 20000; i++)
            sum = sum + i;
    }
    close(null);
    return good;
}

int main(int argc, char **argv)
{
    jsprof *prof = NULL;
    jsprof_thread *me = NULL;
    jsprof_options o = { .size = sizeof o, .path = argc > 1 ? argv[1] : NULL, .hz = 5000,
                         .clock = JSPROF_CLOCK_WALL, .ring_bytes = 1 << 14,
                         .max_depth = 16, .flags = JSPROF_NO_THREAD };
    int err = argc < 3 ? -1 : jsprof_open(&prof, &o);
    if (!err)
        err = jsprof_thread_attach(prof, "main", &me);
    if (!err)
        err = jsprof_start(prof);
    if (!err && !work(atof(argv[2])))
        err = -1;
    if (!err)
        err = jsprof_close(prof);
    puts(err ? "an error" : "done");
    return err != 0;
}
