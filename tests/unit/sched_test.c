/* unit/sched_test.c - src/session/sched.c: the marks and counters that a kernel's records and files
 * become. The test plays the kernel, and takes the place of marks.c, descriptor.c and kernel.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/sched.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "image/descriptor.h"
#include "test.h"

enum { PAGES = 17, DATA = 16 * 4096, HEAD = 1024 / 8, TAIL = 1032 / 8, THREADS = 17,
       SWITCH = 14, LOST = 2, IN = 0, OUT = 1 << 13, STOPPED = 3 << 13 };

static struct jsp_sched s;
static struct jsp_thread threads[THREADS];
static struct jsp_marks marks;

static uint64_t now_ns, *rings[THREADS], attr[12];
static long given[4], switches[2];
static int n_rings, fds[THREADS], error, migrations, n_frequencies, delay_ns;
static const char *cpuinfo;

/* The parentheses: no test of this kind calls it. */
int (clock_gettime)(clockid_t clock, struct timespec *out)
{
    *out = (struct timespec){ (time_t)(now_ns / 1000000000), (long)(now_ns % 1000000000) };
    return clock < 0 ? -1 : 0;
}

/* perf_event_open lends a ring, and getrusage counts switches. */
long syscall(long number, ...)
{
    void *words[5];
    va_list ap;
    va_start(ap, number);
    for (int i = 0; i < (number == SYS_getrusage ? 2 : 5); i++)
        words[i] = va_arg(ap, void *);
    va_end(ap);
    if (number == SYS_getrusage) {
        *(struct rusage *)words[1] = (struct rusage){ .ru_nvcsw = switches[0],
                                                      .ru_nivcsw = switches[1] };
        return (int)(intptr_t)words[0];
    }
    memcpy(attr, words[0], sizeof attr);
    for (int i = 0; i < 4; i++)
        given[i] = (int)(intptr_t)words[i + 1];
    if ((errno = error))
        return -1;
    int fd = fds[n_rings] = memfd_create("ring", 0);
    CHECK_EQ(ftruncate(fd, PAGES * 4096), 0);
    uint64_t *ring = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ring[HEAD] = ring[TAIL] = DATA - 40; /* records go over the end */
    rings[n_rings++] = ring;
    return fd;
}

uint64_t jsp_kernel_most_files(void)
{
    return 0; /* event.c asks where it counts its own */
}

int jsp_descriptor_high(int fd)
{
    return fd < 0 ? -errno : fd;
}

int jsp_descriptor_open(const char *path, int flags, mode_t mode)
{
    char text[96] = "";
    int id;
    (void)flags, (void)mode;
    if (strstr(path, "/schedstat") && sscanf(path, "/proc/self/task/%d/", &id) == 1)
        snprintf(text, sizeof text, "1234 %d 56\n", delay_ns + id);
    else if (sscanf(path, "/proc/self/task/%d/", &id) == 1)
        snprintf(text, sizeof text, migrations ? "x : 9\nse.nr_migrations:%d\n" : "x : %d\n",
                 migrations + id);
    else if (sscanf(path, "/sys/devices/system/cpu/cpu%d/", &id) == 1 && id < n_frequencies)
        snprintf(text, sizeof text, "%d\n", 2000999 + 1000000 * (id % 2));
    else if (strcmp(path, "/proc/cpuinfo") == 0 && cpuinfo)
        snprintf(text, sizeof text, "%s", cpuinfo);
    int fd = text[0] ? memfd_create("file", 0) : -ENOENT;
    CHECK(fd < 0 || pwrite(fd, text, strlen(text), 0) > 0);
    return fd;
}

static char noted[4096];
#define NOTE(...) \
    snprintf(noted + strlen(noted), sizeof noted - strlen(noted), __VA_ARGS__)

int jsp_marks_mark(struct jsp_marks *m, const struct jsp_marks_mark *k)
{
    return NOTE("%d-%d %s %s; ", (int)k->begin_ns, (int)k->end_ns, k->name, k->message) + !m;
}

void jsp_marks_lose(struct jsp_marks *m, uint64_t n)
{
    NOTE("lost %d; ", m == &marks ? (int)n : -1);
}

int jsp_marks_counter(struct jsp_marks *m, const struct jsp_marks_definition *d)
{
    static int n;
    return m == &marks && !d->is_real ? n++ % JSP_SCHED_N + 1 : -EINVAL;
}

int jsp_marks_set(struct jsp_marks *m, int counter, int64_t whole, double real)
{
    return NOTE("%d=%d ", counter, m == &marks && real == 0 ? (int)whole : -1);
}

static void notes(const char *text)
{
    CHECK_STR(noted, text);
    noted[0] = 0;
}

static void begin(int n_threads)
{
    memset(threads, 0, sizeof threads);
    n_rings = error = migrations = n_frequencies = 0;
    delay_ns = 1000, now_ns = 899999999;
    jsp_sched_begin(&s, &marks);
    for (int i = 0; i < n_threads; i++) {
        threads[i].tid = i + 1;
        snprintf(threads[i].name, sizeof threads[i].name, "t%d", i + 1);
        threads[i].next = i + 1 < n_threads ? &threads[i + 1] : NULL;
        jsp_sched_add(&s, &threads[i]);
    }
}

static void put(int ring, uint64_t type, uint64_t misc, size_t n, uint64_t time, uint32_t cpu)
{
    const uint64_t words[9] = { type | misc << 32 | n << 51, 0, time, cpu, 99, 99, 99, 99, 99 };
    for (size_t i = 0; i < n + !n; i++, rings[ring][HEAD] += 8)
        rings[ring][(4096 + rings[ring][HEAD] % DATA) / 8] = words[i];
}

TEST(each_thread_has_a_ring_until_no_more_are_lent)
{
    begin(THREADS);
    CHECK(s.n_rings == 16 && !threads[16].switches && threads[16].is_scheduled &&
          attr[0] == (1 | 96ull << 32) && attr[1] == 9 && attr[2] == 0 && attr[3] == 0x86 &&
          attr[5] == 0x6040060 && attr[11] == (uint64_t)CLOCK_MONOTONIC << 32 && given[0] == 16 &&
          given[1] == -1 && given[2] == -1 && given[3] == 8);
    jsp_sched_add(&s, &threads[0]);
    jsp_sched_leave(&s, &threads[0]);
    jsp_sched_leave(&s, &threads[0]);
    CHECK(s.n_rings == 15 && !threads[0].switches && fcntl(fds[0], F_GETFD) < 0);
    error = EMFILE;
    jsp_sched_add(&s, &threads[0]); /* others have rings */
    CHECK(threads[0].is_scheduled && !threads[0].switches && s.error == 0);
    jsp_sched_abandon(&s, threads);
    CHECK(!s.marks && !threads[1].switches && !threads[1].is_scheduled &&
          fcntl(fds[1], F_GETFD) < 0 && fcntl(fds[15], F_GETFD) < 0);
    jsp_sched_add(&s, &threads[1]);
    jsp_sched_read(&s, threads);
    jsp_sched_end(&s, threads);
    CHECK(!threads[1].is_scheduled && n_rings == 16);
    notes("");
}

TEST(why_there_are_no_rings_is_reported)
{
    char text[JSP_SCHED_TEXT];
    begin(0);
    jsp_sched_put(text, &s, true);
    CHECK_STR(text, "counters, and each switch of up to 16 threads");
    error = EACCES;
    jsp_sched_add(&s, &threads[0]);
    CHECK(s.error == -EACCES && !threads[0].switches && n_rings == 0);
    jsp_sched_put(text, &s, false);
    CHECK_STR(text, "counters only (perf_event_open: error 13)");
}

TEST(a_switch_out_and_in_is_one_mark)
{
    begin(2);
    put(0, SWITCH, IN, 4, 1, 0);
    put(0, SWITCH, OUT, 4, 10, 1);
    put(0, 4711, IN, 9, 15, 7); /* of no kind that is read */
    put(0, SWITCH, IN, 4, 20, 1);
    put(0, SWITCH, IN, 4, 21, 2);
    put(0, SWITCH, STOPPED, 4, 30, 1);
    put(0, SWITCH, IN, 4, 40, 2);
    put(1, SWITCH, OUT, 4, 50, 0);
    put(1, LOST, 0, 6, 14, 0);
    put(1, SWITCH, IN, 4, 60, 3);
    jsp_sched_read(&s, threads);
    notes("10-20 slept t1 (1), processor 1; 30-40 stopped t1 (1), processor 1 to 2; lost 7; ");
    CHECK(rings[0][TAIL] == rings[0][HEAD] && rings[1][TAIL] == rings[1][HEAD]);
    put(1, SWITCH, OUT, 4, 70, 3);
    put(1, 0, 0, 0, 0, 0); /* no record has no length */
    put(1, SWITCH, IN, 4, 80, 3);
    jsp_sched_leave(&s, &threads[1]);
    CHECK_EQ(rings[1][HEAD] - rings[1][TAIL], 40);
    now_ns++;
    jsp_sched_end(&s, threads);
    CHECK(!threads[0].switches && !threads[0].is_scheduled && !s.marks && s.n_rings == 0);
    notes("1=0 2=0 3=0 4=1 ");
}

TEST(counters_are_set_once_a_second)
{
    switches[0] = 100, switches[1] = 200;
    begin(2);
    migrations = 5;
    threads[0].migrated = 1; /* as if the kernel had counted from the beginning */
    switches[0] += 3, switches[1] += 4, delay_ns += 5000;
    now_ns = 900000000;
    jsp_sched_read(&s, threads);
    notes("1=3 2=4 3=10 4=12 ");
    now_ns += 899999999, n_frequencies = 2, delay_ns += 1000;
    jsp_sched_read(&s, threads);
    notes("");
    now_ns++;
    jsp_sched_leave(&s, &threads[0]);
    jsp_sched_read(&s, threads);
    notes("1=3 2=4 3=12 4=12 5=2500 ");
    delay_ns = 0; /* less than before */
    n_frequencies = 0;
    cpuinfo = "cpu MHz\t: 1000.9\ncpu MHz: 3000\ncpu MHz\nx: 5\ncpu MHz : 3001\n";
    jsp_sched_end(&s, threads);
    notes("1=3 2=4 3=6 4=12 5=1750 ");
    begin(0);
    error = EACCES;
    now_ns++;
    s.counters[JSP_SCHED_DELAY] = -ENOSPC;
    n_frequencies = 1000;
    jsp_sched_end(&s, threads);
    notes("1=0 2=0 5=2500 ");
}

TEST_MAIN()
