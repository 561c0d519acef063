/* traced_host.c - a program that records itself while a debugger is attached, as the environment
 * says: traced_host SAMPLES [FILE]. The main thread sleeps in parts until the session has so many
 * samples, and the file exists. Then it runs until there are as many more. Meanwhile a second
 * thread naps, and a third one runs.
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

static jsprof *traced_session;

static unsigned long long traced_samples(void)
{
    jsprof_stats s = { .size = sizeof s };
    return jsprof_stats_get(traced_session, &s) == 0 ? s.samples : 0;
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
    unsigned long long n = argc > 1 ? strtoull(argv[1], NULL, 10) : 30;
    void *napped = NULL, *spun = NULL;
    jsprof_thread *me;
    pthread_t naps, spins;
    if (jsprof_start_from_env(&traced_session) <= 0 ||
        jsprof_thread_attach(traced_session, "main", &me) != 0 ||
        pthread_create(&naps, NULL, traced_naps, traced_session) != 0 ||
        pthread_create(&spins, NULL, traced_spins, traced_session) != 0)
        return 1;
    puts("begun");
    fflush(stdout);
    while (traced_samples() < n || (argc > 2 && access(argv[2], F_OK) != 0))
        poll(NULL, 0, 2);
    while (traced_samples() < 2 * n)
        continue;
    /* ORDER: relaxed, as above. */
    atomic_store_explicit(&traced_end, true, memory_order_relaxed);
    if (pthread_join(naps, &napped) != 0 || !napped || pthread_join(spins, &spun) != 0 || !spun ||
        jsprof_close(traced_session) != 0)
        return 1;
    puts("done");
    return 0;
}
