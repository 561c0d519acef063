/* traced_host.c - a program that records itself while a debugger is attached, as the environment
 * says: traced_host MS [FILE]. The main thread sleeps for this long in parts, and on until the file
 * exists, but a minute at most. Then it runs for a third of MS. Meanwhile a second thread naps,
 * and a third one runs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_bool traced_end;

static long traced_ms(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (long)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Sleep until the time is over and the file exists. */
static void traced_sleep(long ms, const char *file)
{
    long since = traced_ms(CLOCK_MONOTONIC), passed = 0;
    while (passed < ms || (file && passed < 60000 && access(file, F_OK) != 0)) {
        poll(NULL, 0, 2);
        passed = traced_ms(CLOCK_MONOTONIC) - since;
    }
}

static void *traced_naps(void *session)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(session, "naps", &me) != 0)
        return NULL;
    /* ORDER: relaxed. Nothing else is shared. */
    while (!atomic_load_explicit(&traced_end, memory_order_relaxed))
        nanosleep(&(struct timespec){ 0, 700000 }, NULL);
    jsprof_thread_detach(me);
    return session;
}

static void *traced_spins(void *session)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(session, "spins", &me) != 0)
        return NULL;
    /* ORDER: relaxed. Nothing else is shared. */
    while (!atomic_load_explicit(&traced_end, memory_order_relaxed))
        continue;
    jsprof_thread_detach(me);
    return session;
}

int main(int argc, char **argv)
{
    long ms = argc > 1 ? atol(argv[1]) : 300, until;
    void *napped = NULL, *spun = NULL;
    jsprof_thread *me;
    pthread_t naps, spins;
    jsprof *prof;
    if (jsprof_start_from_env(&prof) <= 0 || jsprof_thread_attach(prof, "main", &me) != 0 ||
        pthread_create(&naps, NULL, traced_naps, prof) != 0 ||
        pthread_create(&spins, NULL, traced_spins, prof) != 0)
        return 1;
    puts("begun");
    fflush(stdout);
    traced_sleep(ms, argc > 2 ? argv[2] : NULL);
    for (until = traced_ms(CLOCK_THREAD_CPUTIME_ID) + ms / 3;
         traced_ms(CLOCK_THREAD_CPUTIME_ID) < until;)
        continue;
    /* ORDER: relaxed, as above. */
    atomic_store_explicit(&traced_end, true, memory_order_relaxed);
    if (pthread_join(naps, &napped) != 0 || !napped || pthread_join(spins, &spun) != 0 || !spun ||
        jsprof_close(prof) != 0)
        return 1;
    puts("done");
    return 0;
}
