/* looks.h - what the benches of the looker share: sessions, the library's threads, and work.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BENCH_LOOKS_H
#define JSP_BENCH_LOOKS_H

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <jsprof.h>

#include "bench.h"

enum looks_by { LOOKS_NONE, LOOKS_LOOKER, LOOKS_TIMER, LOOKS_EMPTY, LOOKS_N_BY };
enum { LOOKS_N_SESSIONS = LOOKS_EMPTY };
enum { LOOKS_OWN = 4 }; /* threads of the library */

struct looks_session {
    jsprof *session;
    jsprof_thread *me;
};

static inline struct looks_session looks_open_to(int fd, int clock, uint32_t hz, enum looks_by by)
{
    struct looks_session s;
    jsprof_options o = { .size = sizeof o, .hz = hz, .clock = clock, .ring_bytes = 1 << 16,
                         .flags = JSPROF_USE_FD };
    o.flags |= by == LOOKS_TIMER ? JSPROF_TIMER : 0u;
    o.fd = fd;
    bench_need(jsprof_open(&s.session, &o) == 0 &&
               jsprof_thread_attach(s.session, "bench", &s.me) == 0, "opening a session");
    return s;
}

static inline struct looks_session looks_open(int clock, uint32_t hz, enum looks_by by)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct looks_session s = looks_open_to(fd, clock, hz, by);
    close(fd);
    return s;
}

static inline void looks_close(struct looks_session s)
{
    bench_need(jsprof_close(s.session) == 0, "jsprof_close");
    jsprof_thread_detach(s.me);
}

static inline jsprof_stats looks_stats(jsprof *session)
{
    jsprof_stats stats = { .size = sizeof stats };
    bench_need(jsprof_stats_get(session, &stats) == 0, "jsprof_stats_get");
    return stats;
}

/* Find the threads of this name. Return how many there are. */
static inline int looks_find(const char *name, pid_t tids[LOOKS_OWN])
{
    char path[300], text[32];
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    bench_need(tasks != NULL, "opening /proc/self/task");
    for (struct dirent *e; (e = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        if (f && fgets(text, sizeof text, f) && strncmp(text, name, strlen(name)) == 0 &&
            n < LOOKS_OWN)
            tids[n++] = (pid_t)atoi(e->d_name);
        if (f)
            fclose(f);
    }
    closedir(tasks);
    return n;
}

static inline double looks_cpu_ns(pid_t tid)
{
    return bench_ns((clockid_t)(~(unsigned)tid << 3 | 6));
}

/* CPU time of the threads of this name. */
static inline double looks_cpu_of(const char *name)
{
    pid_t tids[LOOKS_OWN];
    double ns = 0;
    for (int i = looks_find(name, tids); i > 0; i--)
        ns += looks_cpu_ns(tids[i - 1]);
    return ns;
}

static inline void looks_row(const char *what, const char *limit_text, double limit,
                             const char *unit, const char *beside, const struct bench_series *s)
{
    bench_print(&(struct bench_row){ what, limit_text, limit, unit, beside }, s);
}

/* The limit was set where the floor was `reference`; here it is `floor`. */
static inline void looks_scaled(const char *what, const char *limit_text, double limit,
                                double floor, double reference, const char *beside,
                                const struct bench_series *s)
{
    bench_print_scaled(&(struct bench_row){ what, limit_text, limit, "%", beside },
                       limit * floor / reference, s);
}

static inline void looks_one(const char *what, const char *limit_text, double limit,
                             const char *unit, const char *beside, double value)
{
    struct bench_series s = { .n = 0 };
    bench_add(&s, value);
    looks_row(what, limit_text, limit, unit, beside, &s);
}

enum { LOOKS_HZ = 1000 };

static volatile uint64_t looks_sum;

__attribute__((noinline, unused)) static void looks_work(uint64_t rounds)
{
    uint64_t x = looks_sum | 1;
    for (uint64_t i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    looks_sum = x;
}

#endif
