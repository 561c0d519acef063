/* thread.c - preloaded into an interpreter: one thread that does nothing. From then on the C
 * library's allocator locks.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <unistd.h>

static void *thread_idle(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static __attribute__((constructor)) void thread_begin(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_idle, NULL);
}
