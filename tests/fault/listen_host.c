/* fault/listen_host.c - a host with many threads that listens: for tests/serve/many.sh, top.sh and
 * dump.sh, and tests/bench/fleet.sh.
 *
 *     listen_host cost FILE              print the private memory, in KiB, of a session with FILE
 *     listen_host cost -                 of one that listens
 *     listen_host sleep|run|mixed N      N threads that wait, or that compute, or half of each
 *     listen_host light N                N threads that compute a little, ten times a second
 *     listen_host part N                 N threads that compute 3 ms, ten times a second
 *     listen_host hangs lock             two threads that wait for each other's mutex
 *     listen_host hangs deaf             a thread that blocks all signals and computes
 *     listen_host hangs names            one with names that no terminal should get
 *     listen_host exec FILE              executes sleep as soon as there is FILE
 *     listen_host fork FILE              forks then, and ends when FILE is gone; the child sleeps
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static jsprof *session;
static pthread_barrier_t attached;

static long host_private_kib(void)
{
    char line[128];
    long n, sum = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Private_Dirty: %ld", &n) == 1)
            sum += n;
    if (f)
        fclose(f);
    return sum;
}

static int host_open(const char *path)
{
    jsprof_thread *me;
    jsprof_options o = { .size = sizeof o, .path = path,
                         .flags = path ? 0 : (unsigned)JSPROF_CONTROL, .vm = "many threads" };
    int err = jsprof_open(&session, &o);
    if (!err)
        err = jsprof_thread_attach(session, "main", &me);
    if (!err && !path)
        err = jsprof_start(session);
    return err;
}

static int host_cost(const char *path)
{
    host_private_kib(); /* stdio's own memory */
    long before = host_private_kib();
    if (host_open(strcmp(path, "-") ? path : NULL))
        return 1;
    usleep(100000); /* the thread sleeps by now */
    printf("%ld\n", host_private_kib() - before);
    jsprof_close(session);
    return 0;
}

static bool is_light, is_part;

/* Compute for 3 ms of CPU time. */
static void host_part(volatile unsigned *n)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (int i = 0; i < 10000; i++)
            *n = *n + 1;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 3000000);
}

static void *host_thread(void *runs)
{
    jsprof_thread *me = NULL;
    volatile unsigned n = 0;
    if (jsprof_thread_attach(session, runs ? "runs" : "sleeps", &me))
        abort();
    jsprof_push(me, runs ? "runs" : "sleeps", "host.c", 1);
    pthread_barrier_wait(&attached);
    for (;;) {
        if (is_part)
            host_part(&n);
        else if (runs)
            n = n + 1;
        else
            pause();
        if (is_part || (is_light && n % 60000 == 0))
            usleep(100000);
    }
    return NULL;
}

/* -- Hosts that hang ------------------------------------------------------------------------- */

static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

static void *host_locks(void *mine)
{
    static const char *const names[] = { "holds_0_waits_for_1", "holds_1_waits_for_0" };
    jsprof_thread *me = NULL;
    int n = mine != &locks[0];
    if (jsprof_thread_attach(session, names[n], &me))
        abort();
    pthread_mutex_lock(&locks[n]);
    jsprof_push(me, names[n], "host.c", 1);
    pthread_barrier_wait(&attached);
    pthread_mutex_lock(&locks[!n]);
    return NULL;
}

static void *host_spins(void *name)
{
    jsprof_thread *me = NULL;
    sigset_t all;
    volatile unsigned n = 0;
    sigfillset(&all);
    if (strcmp(name, "deaf") == 0)
        pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (jsprof_thread_attach(session, name, &me))
        abort();
    jsprof_push(me, name, name, 1);
    pthread_barrier_wait(&attached);
    for (;;)
        n = n + 1;
}

static int host_hangs(const char *how)
{
    /* It clears a screen, names a window, rings, moves up, and reorders what follows. */
    static char evil[] = "evil\033[2J\033]0;owned\007\n\r\t\x9b"
                         "1A\xe2\x80\xae\xe4\xb8\xad\xe6\x96\x87";
    static char deaf[] = "deaf";
    bool locks_up = strcmp(how, "lock") == 0;
    pthread_t t;
    if (host_open(NULL) || pthread_barrier_init(&attached, NULL, locks_up ? 3 : 2))
        return 1;
    if (locks_up && (pthread_create(&t, NULL, host_locks, &locks[0]) ||
                     pthread_create(&t, NULL, host_locks, &locks[1])))
        return 1;
    if (!locks_up && pthread_create(&t, NULL, host_spins, strcmp(how, deaf) == 0 ? deaf : evil))
        return 1;
    pthread_barrier_wait(&attached);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}

/* Compute until the file is there, or no longer there. */
static void host_until(const char *file, bool there)
{
    volatile unsigned n = 0;
    while ((access(file, F_OK) == 0) != there)
        n = n + 1;
}

static int host_exec(const char *file)
{
    if (host_open(NULL))
        return 1;
    host_until(file, true);
    execlp("sleep", "sleep", "60", (char *)NULL);
    return 1;
}

/* The child has the parent's descriptors, also when the parent has ended. */
static int host_fork(const char *file)
{
    if (host_open(NULL))
        return 1;
    host_until(file, true);
    if (fork() == 0)
        sleep(60);
    else
        host_until(file, false);
    _exit(0);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    if (strcmp(argv[1], "exec") == 0)
        return host_exec(argv[2]);
    if (strcmp(argv[1], "hangs") == 0)
        return host_hangs(argv[2]);
    if (strcmp(argv[1], "fork") == 0)
        return host_fork(argv[2]);
    if (strcmp(argv[1], "cost") == 0)
        return host_cost(argv[2]);
    unsigned n = (unsigned)atoi(argv[2]);
    is_light = strcmp(argv[1], "light") == 0;
    is_part = strcmp(argv[1], "part") == 0;
    if (host_open(NULL) || pthread_barrier_init(&attached, NULL, n + 1))
        return 1;
    for (unsigned i = 0; i < n; i++) {
        pthread_t t;
        bool runs = strcmp(argv[1], "run") == 0 || is_light || is_part ||
                    (strcmp(argv[1], "mixed") == 0 && i % 2);
        if (pthread_create(&t, NULL, host_thread, runs ? argv : NULL))
            return 1;
    }
    pthread_barrier_wait(&attached);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
