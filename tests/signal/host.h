/* host.h - what the signal tests share: a session on a memory file, work that takes
 * a known CPU time, and the capture read back and checked.
 *
 * Checks speak from the main thread only; other threads count in atomics.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_HOST_H
#define JSP_TEST_HOST_H

#include <dirent.h>
#include <errno.h>
#include <jsprof.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyze/profile.h"
#include "base/losses.h"
#include "test.h"

/* The thread sanitizer hands signals on late, and only one of a number at a time. */
#if defined(__SANITIZE_THREAD__)
enum { HOST_SANITIZED = 1, HOST_LATE = 1 };
#elif defined(__SANITIZE_ADDRESS__)
enum { HOST_SANITIZED = 1, HOST_LATE = 0 };
#else
enum { HOST_SANITIZED = 0, HOST_LATE = 0 };
#endif

/* Return the exit status of a child; after a signal 128 and its number; -1: no child. */
static inline int host_child_status(pid_t child)
{
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Run the body in a child, which a signal may kill. */
static inline int host_in_child(int (*body)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int status = body();
        fflush(stdout);
        _exit(status);
    }
    return host_child_status(child);
}

struct host {
    int fd;
    jsprof *prof;
    jsprof_stats stats; /* as of just before close */
    struct jsp_read read;
    struct jsp_profile profile; /* after host_close, until it is opened again */
    bool is_loaded;
};

static inline uint64_t host_ns(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t host_distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* CPU time to burn, in steps. A machine that was not there may have charged that to us: a
 * step counts for a millisecond at most. */
struct host_burn {
    uint64_t left, at;
};

static inline struct host_burn host_burn_begin(uint64_t ms)
{
    return (struct host_burn){ ms * 1000000, host_ns(CLOCK_THREAD_CPUTIME_ID) };
}

/* Is there more to do? Asked after each step. */
static inline bool host_burn_on(struct host_burn *b)
{
    uint64_t now = host_ns(CLOCK_THREAD_CPUTIME_ID), step = now - b->at;
    step = step < 1000000 ? step : 1000000;
    b->at = now;
    b->left -= step < b->left ? step : b->left;
    return b->left > 0;
}

/* Use this much CPU time of the calling thread. */
static inline void host_burn_ms(uint64_t ms)
{
    static _Thread_local volatile uint64_t sink;
    struct host_burn burn = host_burn_begin(ms);
    while (host_burn_on(&burn))
        for (int i = 0; i < 2000; i++)
            sink = sink + (uint64_t)i;
}

/* What sends the signals: the looker, or what HOST_SOURCE says in the environment, timer or perf.
 * See tests/signal/sources.sh. */
static inline const char *host_source(void)
{
    const char *source = getenv("HOST_SOURCE");
    return source ? source : "looker";
}

/* The signal of that source. */
static inline int host_signo(void)
{
    return strcmp(host_source(), "perf") == 0 ? SIGURG : SIGPROF;
}

static inline jsprof_options host_options(uint32_t hz, int clock)
{
    jsprof_options options = { .size = sizeof options, .hz = hz, .clock = clock };
    CHECK_EQ(jsprof_options_set(&options, "source", host_source()), 0);
    return options;
}

/* The same by a source that the test chooses. */
static inline void host_choose(jsprof_options *options, const char *source)
{
    CHECK_EQ(jsprof_options_set(options, "source", source), 0);
}

static inline void host_free(struct host *h)
{
    jsp_profile_free(&h->profile);
    jsp_read_close(&h->read);
    close(h->fd);
    h->is_loaded = false;
}

static inline int host_open_with(struct host *h, jsprof_options options)
{
    if (h->is_loaded)
        host_free(h);
    *h = (struct host){ .fd = memfd_create("capture", MFD_CLOEXEC) };
    options.flags |= JSPROF_USE_FD;
    options.fd = h->fd;
    return jsprof_open(&h->prof, &options);
}

static inline bool host_open(struct host *h, uint32_t hz, int clock)
{
    return CHECK_EQ(host_open_with(h, host_options(hz, clock)), 0);
}

/* Open, with the calling thread attached and sampled. */
static inline bool host_begin_with(struct host *h, jsprof_options options,
                                   jsprof_thread **me)
{
    return CHECK_EQ(host_open_with(h, options), 0) &&
           CHECK_EQ(jsprof_thread_attach(h->prof, "main", me), 0) &&
           CHECK_EQ(jsprof_start(h->prof), 0);
}

static inline void host_stats(struct host *h)
{
    h->stats = (jsprof_stats){ .size = sizeof h->stats };
    CHECK_EQ(jsprof_stats_get(h->prof, &h->stats), 0);
    CHECK_EQ(h->stats.expirations, h->stats.kept + jsp_losses_of_stats(&h->stats));
}

static inline bool host_load(struct host *h)
{
    char path[64], why[JSP_READ_WHY] = "";
    snprintf(path, sizeof path, "/proc/thread-self/fd/%d", h->fd);
    if (!CHECK_EQ(jsp_read_open(&h->read, path, why), 0)) {
        printf("# %s\n", why);
        return false;
    }
    h->is_loaded = true;
    return CHECK_EQ(jsp_profile_load(&h->profile, &h->read, NULL), 0);
}

/* Return how many samples the session has taken. */
static inline uint64_t host_taken(const struct host *h)
{
    jsprof_stats stats = { .size = sizeof stats };
    CHECK_EQ(jsprof_stats_get(h->prof, &stats), 0);
    return stats.samples;
}

/* Do the work again until the session has so many samples more, however late the machine lets
 * them come. A session that takes none hangs here, and the runner says so. */
static inline void host_work(const struct host *h, void (*work)(void), uint64_t more)
{
    for (uint64_t until = host_taken(h) + more; host_taken(h) < until;)
        work();
}

static inline void host_burn_one(void)
{
    host_burn_ms(1);
}

/* Use CPU time until the session has so many samples more. */
static inline void host_sampled(const struct host *h, uint64_t more)
{
    host_work(h, host_burn_one, more);
}

/* Return how often the thread of this name has gone to sleep: one that spins does not. */
static inline unsigned long long host_naps(const char *name)
{
    unsigned long long naps = 0;
    char path[320], line[128];
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; tasks && (e = readdir(tasks)) != NULL;) {
        bool is_it = false;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
        FILE *f = fopen(path, "r");
        while (f && fgets(line, sizeof line, f)) {
            is_it = is_it || (strncmp(line, "Name:\t", 6) == 0 &&
                              strncmp(line + 6, name, strlen(name)) == 0);
            if (is_it && sscanf(line, "voluntary_ctxt_switches: %llu", &naps) == 1)
                break;
        }
        if (f)
            fclose(f);
    }
    closedir(tasks);
    return naps;
}

/* Sample weights in the file, against what its losses say was kept, per thread. */
static inline void host_check_thread(const struct host *h, int32_t tid)
{
    const struct jsp_profile *p = &h->profile;
    uint64_t kept = 0, samples = 0, weight = 0, found = 0;
    for (uint32_t i = 0; i < p->account.n_threads; i++) {
        const struct jsp_account_thread *t = &p->account.threads[i];
        kept += t->tid == tid ? t->kept : 0;
        samples += t->tid == tid ? t->samples : 0;
    }
    for (uint32_t i = 0; i < p->n_threads; i++) {
        weight += p->threads[i].tid == tid ? p->threads[i].weight : 0;
        found += p->threads[i].tid == tid ? p->threads[i].samples : 0;
    }
    CHECK_EQ(weight, kept);
    CHECK_EQ(found, samples);
}

/* Conservation, and a file without a defect. */
static inline void host_check(const struct host *h)
{
    const struct jsp_profile *p = &h->profile;
    uint64_t expirations = 0;
    for (uint32_t i = 0; i < p->account.n_threads; i++) {
        const struct jsp_account_thread *t = &p->account.threads[i];
        CHECK_EQ(t->expirations, t->kept + jsp_account_lost(t));
        expirations += t->expirations;
        host_check_thread(h, t->tid);
    }
    for (int i = 0; i < JSP_READ_N_CAUSES; i++)
        CHECK_EQ(p->defects.count[i], 0);
    CHECK_STR(p->account.session.state, "final");
    CHECK_EQ(p->samples, p->account.session.samples);
    CHECK_EQ(expirations, h->stats.expirations);
    CHECK_EQ(p->weight, h->stats.kept);
}

/* Stop, look at the counters, close, read the file back, and check its sums. */
static inline bool host_close(struct host *h)
{
    CHECK_EQ(jsprof_stop(h->prof), 0);
    host_stats(h);
    CHECK_EQ(jsprof_close(h->prof), 0);
    if (!host_load(h))
        return false;
    host_check(h);
    return true;
}

/* What a whole run should have come to, checked and given back. */
static inline void host_finish(struct host *h)
{
    host_close(h);
    host_free(h);
}

static inline bool host_stack_has(struct host *h, uint32_t stack, const char *name)
{
    static struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
    int n = jsp_profile_frames(&h->profile, stack, frames), at = 0;
    while (at < n && strcmp(h->profile.functions[frames[at].function].name, name) != 0)
        at++;
    return at < n;
}

/* Return the weight of the stacks that contain a frame of this name. */
static inline uint64_t host_weight(struct host *h, const char *name)
{
    uint64_t weight = 0;
    for (uint32_t s = 0; s < h->profile.n_stacks; s++)
        weight += host_stack_has(h, s, name) ? h->profile.stacks[s].weight : 0;
    return weight;
}

/* As many samples, each once: where a machine was not there for a while, the weight of one
 * is large. */
static inline uint64_t host_samples(struct host *h, const char *name)
{
    uint64_t samples = 0;
    for (uint32_t s = 0; s < h->profile.n_stacks; s++)
        samples += host_stack_has(h, s, name) ? h->profile.stacks[s].samples : 0;
    return samples;
}

/* A number that any thread counts up and the checks read. */
static inline void host_count(_Atomic uint32_t *n)
{
    atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}

static inline uint32_t host_counted(const _Atomic uint32_t *n)
{
    return atomic_load_explicit(n, memory_order_relaxed);
}

static inline void host_recount(_Atomic uint32_t *n)
{
    atomic_store_explicit(n, 0, memory_order_relaxed);
}

/* Block or unblock one signal for the calling thread. */
static inline void host_mask(int how, int signo)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signo);
    pthread_sigmask(how, &set, NULL);
}

/* The next blocking call of ours that must not fail. */
static inline pthread_t host_thread(void *(*body)(void *), void *arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, body, arg) != 0) {
        puts("Bail out! no thread");
        exit(1);
    }
    return t;
}

#endif
