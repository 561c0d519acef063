/* count_writes.c - a preload that counts what is written, under a lock of its own, as far as
 * COUNT_ELSEWHERE is not defined. The counting takes a while, here and in the C library.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void count_bytes(size_t n);

#ifndef COUNT_ELSEWHERE
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile size_t count_total;

void count_bytes(size_t n)
{
    static const struct timespec moment = { 0, 1000 };
    pthread_mutex_lock(&count_lock);
    for (int i = 0; i < 20000; i++)
        count_total = count_total + n;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
    pthread_mutex_unlock(&count_lock);
}
#endif

#ifndef COUNT_ONLY
ssize_t write(int fd, const void *from, size_t n)
{
    count_bytes(n);
    return syscall(SYS_write, fd, from, n);
}
#endif
