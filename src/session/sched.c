/* session/sched.c - see sched.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sched.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "image/descriptor.h"

enum {
    SCHED_DUMMY = 9, /* number of an event that never comes */
    SCHED_TID = 1 << 1, SCHED_TIME = 1 << 2, SCHED_CPU = 1 << 7, /* what each record has */
    SCHED_LOST = 2, SCHED_SWITCH = 14,                           /* kinds of records */
    SCHED_OUT = 1 << 13, SCHED_PREEMPT = 1 << 14,                /* flags of a switch */
    SCHED_HEAD = 1024, SCHED_TAIL = 1032, /* byte offsets in a ring's first page */
    SCHED_PAGES = 16,                     /* of data; a power of two */
    SCHED_RINGS = 16,                     /* at most: the user's locked memory is limited */
    SCHED_RECORD = 8,                     /* words of the longest record that we ask for */
    SCHED_EVERY_NS = 900000000,           /* between two sets of counters */
    SCHED_PROCESSORS = 64,                /* whose frequency is read */
    SCHED_CPUINFO = 1 << 14,              /* bytes that are read of it ... */
    SCHED_OF_THREAD = 1 << 12,            /* ... and of what the kernel counts of a thread */
};
/* exclude_kernel, exclude_hv, sample_id_all, use_clockid, context_switch */
#define SCHED_FLAGS (1u << 5 | 1u << 6 | 1u << 18 | 1u << 25 | 1u << 26)

struct jsp_sched_ring {
    int fd;
    uint8_t *pages; /* mapped */
    size_t bytes;
    uint64_t out_ns; /* time when the thread was switched out, if it is */
    uint32_t cpu;    /* its processor then */
    bool is_out, was_stopped;
};

/* -- Files -------------------------------------------------------------------- */

/* Read the beginning of a file. Return its length, 0 if there is none. */
static size_t sched_file(const char *path, char *text, size_t room)
{
    int fd = jsp_descriptor_open(path, O_RDONLY, 0);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, room - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

/* Return how long the thread has waited for a processor, as the kernel counts. */
static uint64_t sched_delay_ns(const struct jsp_thread *t)
{
    char path[64], text[96], *end;
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int)t->tid);
    if (!sched_file(path, text, sizeof text))
        return 0;
    strtoull(text, &end, 10); /* the time that it ran */
    return strtoull(end, NULL, 10);
}

/* The same since the thread was added. */
static uint64_t sched_delayed_ns(const struct jsp_thread *t)
{
    uint64_t ns = t->is_scheduled ? sched_delay_ns(t) : 0;
    return ns > t->delayed_ns ? ns - t->delayed_ns : 0;
}

/* Return how often the thread has gone to another processor, as the kernel counts. */
static uint64_t sched_migrations(struct jsp_sched *s, const struct jsp_thread *t)
{
    static const char name[] = "se.nr_migrations";
    char path[64], text[SCHED_OF_THREAD];
    snprintf(path, sizeof path, "/proc/self/task/%d/sched", (int)t->tid);
    const char *at = sched_file(path, text, sizeof text) ? strstr(text, name) : NULL;
    at = at ? strchr(at, ':') : NULL;
    s->has_migrated |= at != NULL;
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* The same since the thread was added. */
static uint64_t sched_migrated(struct jsp_sched *s, const struct jsp_thread *t)
{
    uint64_t n = t->is_scheduled ? sched_migrations(s, t) : 0;
    return n > t->migrated ? n - t->migrated : 0;
}

/* -- Rings -------------------------------------------------------------------- */

static size_t sched_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static int sched_open_event(pid_t tid)
{
    const struct jsp_event_attr attr = {
        .config = SCHED_DUMMY, .sample_type = SCHED_TID | SCHED_TIME | SCHED_CPU,
        .flags = SCHED_FLAGS, .clock = CLOCK_MONOTONIC,
    };
    return jsp_event_make(&attr, tid);
}

static int sched_map(struct jsp_sched_ring *r)
{
    r->bytes = (SCHED_PAGES + 1) * sched_page();
    r->pages = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
    return r->pages == MAP_FAILED ? -errno : 0;
}

static void sched_free(struct jsp_sched_ring *r)
{
    if (r->pages != MAP_FAILED)
        munmap(r->pages, r->bytes);
    if (r->fd >= 0)
        close(r->fd);
    free(r);
}

static void sched_add_ring(struct jsp_sched *s, struct jsp_thread *t)
{
    struct jsp_sched_ring *r = malloc(sizeof *r);
    if (!r)
        return;
    *r = (struct jsp_sched_ring){ .pages = MAP_FAILED };
    r->fd = sched_open_event(t->tid);
    int err = r->fd < 0 ? r->fd : sched_map(r);
    if (err) {
        s->error = s->n_rings ? 0 : err;
        sched_free(r);
        return;
    }
    t->switches = r;
    s->n_rings++;
}

void jsp_sched_add(struct jsp_sched *s, struct jsp_thread *t)
{
    if (!s->marks || t->is_scheduled)
        return;
    t->is_scheduled = true;
    t->delayed_ns = sched_delay_ns(t);
    t->migrated = sched_migrations(s, t);
    if (!s->error && s->n_rings < SCHED_RINGS)
        sched_add_ring(s, t);
}

/* -- Records ------------------------------------------------------------------- */

static uint64_t *sched_word(const struct jsp_sched_ring *r, size_t at)
{
    return (uint64_t *)(void *)(r->pages + at);
}

static void sched_mark(struct jsp_sched *s, const struct jsp_thread *t, uint64_t in_ns,
                       uint32_t cpu)
{
    const struct jsp_sched_ring *r = t->switches;
    char message[JSP_THREAD_NAME + 64];
    int n = snprintf(message, sizeof message, "%s (%d), processor %u", t->name, (int)t->tid,
                     (unsigned)r->cpu);
    if (cpu != r->cpu)
        snprintf(message + n, sizeof message - (size_t)n, " to %u", (unsigned)cpu);
    jsp_marks_mark(s->marks, &(struct jsp_marks_mark){ r->out_ns, in_ns, "scheduler",
                                                       r->was_stopped ? "stopped" : "slept",
                                                       message });
}

/* Read a record: what kind it is, the thread, the time and the processor. */
static void sched_record(struct jsp_sched *s, struct jsp_thread *t,
                         const uint64_t word[SCHED_RECORD])
{
    struct jsp_sched_ring *r = t->switches;
    uint32_t type = (uint32_t)word[0], misc = (uint32_t)(word[0] >> 32) & 0xFFFF;
    uint64_t time = word[2];
    uint32_t cpu = (uint32_t)word[3];
    if (type == SCHED_LOST) {
        jsp_marks_lose(s->marks, word[2] / 2);
        r->is_out = false;
    }
    if (type != SCHED_SWITCH)
        return;
    if (misc & SCHED_OUT) {
        r->is_out = true;
        r->was_stopped = misc & SCHED_PREEMPT;
        r->out_ns = time;
        r->cpu = cpu;
        return;
    }
    if (r->is_out) {
        s->migrations += cpu != r->cpu;
        sched_mark(s, t, time, cpu);
    }
    r->is_out = false;
}

static void sched_read_ring(struct jsp_sched *s, struct jsp_thread *t)
{
    struct jsp_sched_ring *r = t->switches;
    size_t page = sched_page(), mask = SCHED_PAGES * page - 1;
    /* ORDER: acquire, pairs with the kernel's release: the records up to it are there. */
    uint64_t head = __atomic_load_n(sched_word(r, SCHED_HEAD), __ATOMIC_ACQUIRE);
    uint64_t tail = *sched_word(r, SCHED_TAIL); /* only we store it */
    while (tail < head) {
        uint64_t word[SCHED_RECORD] = { *sched_word(r, page + (tail & mask)) };
        size_t n = (size_t)(word[0] >> 48) / 8;
        if (!n)
            break;
        for (size_t i = 1; i < n && i < SCHED_RECORD; i++)
            word[i] = *sched_word(r, page + ((tail + 8 * i) & mask));
        sched_record(s, t, word);
        tail += 8 * n;
    }
    /* ORDER: release, pairs with the kernel's acquire: we have read what it may overwrite. */
    __atomic_store_n(sched_word(r, SCHED_TAIL), tail, __ATOMIC_RELEASE);
}

/* -- Counters ------------------------------------------------------------------ */

/* Return the mean frequency of the processors in MHz, 0 if it is not known. */
static int64_t sched_mhz(void)
{
    static const char name[] = "cpu MHz";
    char path[80], text[SCHED_CPUINFO];
    uint64_t sum = 0, n = 0;
    for (; n < SCHED_PROCESSORS; n++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq",
                 (int)n);
        if (!sched_file(path, text, 32))
            break;
        sum += strtoull(text, NULL, 10) / 1000;
    }
    if (!n && sched_file("/proc/cpuinfo", text, sizeof text))
        for (char *at = text; (at = strstr(at, name)) != NULL; n++) {
            at += strcspn(at, ":\n");
            sum += *at == ':' ? strtoull(at + 1, NULL, 10) : 0;
        }
    return n ? (int64_t)(sum / n) : 0;
}

/* Store the process's switches: those that it asked for, and the others. */
static void sched_switches(uint64_t out[2])
{
    struct rusage used = { .ru_nvcsw = 0 };
    syscall(SYS_getrusage, RUSAGE_SELF, &used);
    out[0] = (uint64_t)used.ru_nvcsw;
    out[1] = (uint64_t)used.ru_nivcsw;
}

static void sched_set(const struct jsp_sched *s, enum jsp_sched_counter counter, uint64_t value)
{
    if (s->counters[counter] > 0)
        jsp_marks_set(s->marks, s->counters[counter], (int64_t)value, 0);
}

static void sched_count(struct jsp_sched *s, const struct jsp_thread *threads)
{
    uint64_t now[2], delay_ns = s->delay_ns, migrated = s->migrated;
    sched_switches(now);
    for (const struct jsp_thread *t = threads; t; t = t->next) {
        delay_ns += sched_delayed_ns(t);
        migrated += sched_migrated(s, t);
    }
    sched_set(s, JSP_SCHED_VOLUNTARY, now[0] - s->before[0]);
    sched_set(s, JSP_SCHED_INVOLUNTARY, now[1] - s->before[1]);
    sched_set(s, JSP_SCHED_DELAY, delay_ns / 1000);
    if (s->has_migrated || s->n_rings)
        sched_set(s, JSP_SCHED_MIGRATIONS, s->has_migrated ? migrated : s->migrations);
    int64_t mhz = sched_mhz();
    if (mhz)
        sched_set(s, JSP_SCHED_FREQUENCY, (uint64_t)mhz);
}

static const struct jsp_marks_definition sched_definitions[JSP_SCHED_N] = {
    { "scheduler", "voluntary switches", "of all threads: they waited for something", false },
    { "scheduler", "involuntary switches", "of all threads: others had the processor", false },
    { "scheduler", "waiting for a processor", "microseconds, of attached threads", false },
    { "scheduler", "migrations", "to another processor, of attached threads", false },
    { "scheduler", "frequency", "MHz, mean of the processors", false },
};

/* -- Life ---------------------------------------------------------------------- */

void jsp_sched_begin(struct jsp_sched *s, struct jsp_marks *marks)
{
    *s = (struct jsp_sched){ .marks = marks };
    for (int i = 0; i < JSP_SCHED_N; i++)
        s->counters[i] = jsp_marks_counter(marks, &sched_definitions[i]);
    sched_switches(s->before);
}

void jsp_sched_read(struct jsp_sched *s, struct jsp_thread *threads)
{
    if (!s->marks)
        return;
    for (struct jsp_thread *t = threads; t; t = t->next)
        if (t->switches)
            sched_read_ring(s, t);
    uint64_t now = jsp_now_ns(CLOCK_MONOTONIC);
    if (now - s->counted_ns < SCHED_EVERY_NS)
        return;
    s->counted_ns = now;
    sched_count(s, threads);
}

void jsp_sched_leave(struct jsp_sched *s, struct jsp_thread *t)
{
    if (!t->is_scheduled)
        return;
    s->delay_ns += sched_delayed_ns(t);
    s->migrated += sched_migrated(s, t);
    t->is_scheduled = false;
    if (!t->switches)
        return;
    sched_read_ring(s, t);
    sched_free(t->switches);
    t->switches = NULL;
    s->n_rings--;
}

void jsp_sched_end(struct jsp_sched *s, struct jsp_thread *threads)
{
    if (!s->marks)
        return;
    s->counted_ns = 0;
    jsp_sched_read(s, threads);
    for (struct jsp_thread *t = threads; t; t = t->next)
        jsp_sched_leave(s, t);
    s->marks = NULL;
}

void jsp_sched_abandon(struct jsp_sched *s, struct jsp_thread *threads)
{
    for (struct jsp_thread *t = threads; t; t = t->next) {
        t->is_scheduled = false;
        if (!t->switches)
            continue;
        close(t->switches->fd); /* the mapping stays the parent's */
        free(t->switches);
        t->switches = NULL;
    }
    *s = (struct jsp_sched){ .marks = NULL };
}

void jsp_sched_put(char to[JSP_SCHED_TEXT], const struct jsp_sched *s, bool has_states)
{
    const char *beside = has_states ? "counters, and states of samples" : "counters only";
    if (s->error)
        snprintf(to, JSP_SCHED_TEXT, "%s (perf_event_open: error %d)", beside, -s->error);
    else
        snprintf(to, JSP_SCHED_TEXT, "counters, and each switch of up to %d threads", SCHED_RINGS);
}
