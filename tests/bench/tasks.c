/* tasks.c - what a task costs its host, and what writing it costs the drain.
 *
 * SPDX-License-Identifier: MIT
 *
 * The host makes a task, begins it and ends it, in bursts that the ring holds; between two
 * bursts everything is written. Beside it: three reads of the clock, which any record with
 * times needs. The stack has 30 C frames of this program, below main.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <jsprof.h>

#include "bench.h"
#include "session/output.h"
#include "sigsafe/ring.h"
#include "tasks/tasks.h"

enum { TASKS_BURST = 1000, TASKS_FRAMES = 30, TASKS_DRAINED = 20000 };

static jsprof *tasks_session;
static jsprof_thread *tasks_me;

static void tasks_open(void)
{
    jsprof_options o = { .size = sizeof o, .hz = 1, .flags = JSPROF_TIMER | JSPROF_USE_FD,
                         .fd = memfd_create("tasks", MFD_CLOEXEC) };
    bench_need(jsprof_open(&tasks_session, &o) == 0 &&
               jsprof_thread_attach(tasks_session, "main", &tasks_me) == 0 &&
               jsprof_start(tasks_session) == 0, "opening a session");
}

/* ns for one of them. */
static double tasks_burst(uint32_t flags)
{
    double begin = bench_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < TASKS_BURST; i++) {
        jsprof_task task = jsprof_task_new(tasks_me, "timeout", "tick (bench.x:12)", flags);
        jsprof_task_begin(tasks_me, task);
        jsprof_task_end(tasks_me, task);
    }
    double ns = bench_ns(CLOCK_MONOTONIC) - begin;
    bench_need(jsprof_flush(tasks_session) == 0, "flushing");
    return ns / TASKS_BURST;
}

static double tasks_clock(void)
{
    double begin = bench_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < 3 * TASKS_BURST; i++) {
        struct timespec ts;
        clock_gettime(CLOCK_MONOTONIC, &ts);
        __asm__ volatile("" : : "r"(&ts) : "memory");
    }
    return (bench_ns(CLOCK_MONOTONIC) - begin) / TASKS_BURST;
}

static __attribute__((noinline)) double tasks_below(int frames, uint32_t flags)
{
    double ns = frames ? tasks_below(frames - 1, flags) : tasks_burst(flags);
    __asm__ volatile("" : "+m"(ns)); /* no tail call */
    return ns;
}

/* ns of the drain for one task and its run. */
static double tasks_drained(void)
{
    static uint64_t bytes[1 << 13], slots[1 << 10], words[1 << 18];
    static struct jsp_arena arena;
    static struct jsp_tasks_out out;
    static struct jsp_writer writer;
    struct jsp_arena_memory memory = { bytes, sizeof bytes, slots, 1 << 10 };
    struct jsp_tasks k = { .self = NULL };
    struct jsp_tasks_made rec;
    double ns = 0;
    memset(slots, 0, sizeof slots);
    jsp_arena_init(&arena, &memory);
    jsp_ring_init(&k.ring, words, 1 << 18);
    memset(&out, 0, sizeof out);
    out.arena = &arena;
    uint32_t kind = jsp_arena_synth(&arena, "timeout"), name = jsp_arena_synth(&arena, "tick");
    bench_need(jsp_writer_open(&writer, memfd_create("drained", MFD_CLOEXEC), getpid()) == 0,
               "opening a capture");
    for (uint64_t i = 1; i <= TASKS_DRAINED; i++) {
        const struct jsp_tasks_rec both[2] = {
            { .tag = JSP_TASKS_NEW, .task = i, .parent = i - 1, .begin_ns = i * 10000,
              .kind = kind, .name = name, .stack = (uint32_t)i % 100 },
            { .tag = JSP_TASKS_RUN, .task = i, .begin_ns = i * 10000 + 3000,
              .end_ns = i * 10000 + 7000 },
        };
        bench_need(jsp_ring_push(&k.ring, (const void *)&both[0], JSP_TASKS_REC_WORDS) &&
                   jsp_ring_push(&k.ring, (const void *)&both[1], JSP_TASKS_REC_SHORT),
                   "filling the ring");
        if (i % TASKS_BURST)
            continue;
        double begin = bench_ns(CLOCK_THREAD_CPUTIME_ID);
        while (jsp_tasks_pop(&k, &rec))
            jsp_tasks_out_record(&out, &writer, 1, &rec.rec);
        jsp_tasks_out_write(&out, &writer);
        bench_need(jsp_writer_flush(&writer) == 0, "writing");
        ns += bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    }
    bench_need(out.n_lost == 0, "keeping every task");
    jsp_writer_close(&writer);
    return ns / TASKS_DRAINED;
}

int main(void)
{
    static struct bench_series plain, stack, clock, drained;
    char peer[120];
    bench_pin();
    tasks_open();
    tasks_burst(JSPROF_TASK_NO_STACK);
    tasks_below(TASKS_FRAMES, 0);
    for (int i = bench_rounds(101); i > 0; i--) {
        bench_add(&plain, tasks_burst(JSPROF_TASK_NO_STACK));
        bench_add(&clock, tasks_clock());
        bench_add(&stack, tasks_below(TASKS_FRAMES, 0));
        bench_add(&drained, tasks_drained());
    }
    jsprof_close(tasks_session);
    snprintf(peer, sizeof peer, "three reads of the clock %.0f ns", bench_median(&clock));
    bench_print(&(struct bench_row){ "task: new, begin, end", "<= 500 ns", 500, " ns", peer },
                &plain);
    bench_print(&(struct bench_row){ "the same with a stack of 30 C frames", "<= 2000 ns", 2000,
                                     " ns", peer }, &stack);
    snprintf(peer, sizeof peer, "at 100,000 a second %.1f %% of a processor",
             bench_median(&drained) / 100);
    bench_print(&(struct bench_row){ "drain, a task and its run", "<= 200 ns", 200, " ns", peer },
                &drained);
    return 0;
}
