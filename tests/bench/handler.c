/* handler.c - what one sample costs the thread that is interrupted for it.
 *
 * SPDX-License-Identifier: MIT
 *
 * A signal that looks like our timer's is sent to the own thread and delivered at
 * once, in batches, each beside a batch with an empty handler: the same system call,
 * the same frame, the same return. Between batches the ring is drained, so that
 * every sample finds room. The session runs at 1 Hz, its timer never gets due.
 *
 * VERBOSE=1 adds what the parts of the handler cost each, called directly.
 */
#include <fcntl.h>
#include <jsprof.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "bench.h"
#include "sigsafe/sample.h"

enum { HANDLER_BATCH = 400, HANDLER_DEPTH = 30, HANDLER_PARTS = 2000,
       HANDLER_FAR = 1000000000 /* seconds */ };

/* An interpreter's frame as interpreters have them. */
struct handler_entry {
    const char *label, *file;
    void *sp;
    uint32_t line;
};

static char handler_text[HANDLER_DEPTH][33];
static jsprof_function *handler_functions[HANDLER_DEPTH];
static struct handler_entry handler_stack[HANDLER_DEPTH], *handler_entries = handler_stack;
static uint32_t handler_depth;

static void handler_empty(int sig, siginfo_t *info, void *ucontext)
{
    (void)sig, (void)info, (void)ucontext;
}

/* To the own thread, with the code and the value of a timer. */
static void handler_send(int sig, void *value)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = sig;
    info.si_code = SI_TIMER;
    info.si_value.sival_ptr = value;
    bench_need(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), sig, &info) == 0,
               "rt_tgsigqueueinfo");
}

static double handler_batch(int sig, void *value)
{
    double begin = bench_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < HANDLER_BATCH; i++)
        handler_send(sig, value);
    return (bench_ns(CLOCK_MONOTONIC) - begin) / HANDLER_BATCH;
}

static void *handler_value(jsprof_thread *t)
{
    return jsp_sample_value(((const struct jsp_sampled *)(void *)t)->number);
}

struct handler_case {
    const char *name, *limit;
    int clock;
    bool labels; /* pushed labels, else registered functions */
    bool native; /* also the C stack */
};

static void handler_measure(jsprof *p, jsprof_thread *t, const struct handler_case *c)
{
    static struct bench_series ratio, ours, empty;
    char peer[120];
    jsprof_stats stats = { .size = sizeof stats };

    ratio.n = ours.n = empty.n = 0;
    handler_batch(SIGPROF, handler_value(t)); /* warm up */
    for (int i = bench_rounds(401); i > 0; i--) {
        jsprof_flush(p);
        double a = handler_batch(SIGUSR2, NULL), b = handler_batch(SIGPROF, handler_value(t));
        bench_add(&empty, a);
        bench_add(&ours, b);
        bench_add(&ratio, b / a);
    }
    bench_need(jsprof_stats_get(p, &stats) == 0, "jsprof_stats_get");
    bench_need(stats.expirations >= HANDLER_BATCH && !stats.lost_ring && !stats.frames_cut,
               "sampling every signal");
    snprintf(peer, sizeof peer, "empty delivery %.0f ns, this %.0f ns", bench_median(&empty),
             bench_median(&ours));
    bench_print(&(struct bench_row){ c->name, c->limit, 2, "x", peer }, &ratio);
}

static void handler_open(jsprof **p, jsprof_thread **t, const struct handler_case *c)
{
    jsprof_options o = { .size = sizeof o, .hz = 1, .clock = c->clock, .ring_bytes = 2 << 20,
                         .flags = JSPROF_TIMER | JSPROF_USE_FD };
    o.flags |= c->native ? 0u : JSPROF_NO_NATIVE;
    o.fd = open("/dev/null", O_WRONLY);
    bench_need(jsprof_open(p, &o) == 0 && jsprof_thread_attach(*p, "bench", t) == 0 &&
               jsprof_start(*p) == 0, "starting a session");
    close(o.fd);
}

static void handler_array(const struct handler_case *c)
{
    jsprof *p;
    jsprof_thread *t;
    handler_open(&p, &t, c);
    for (int i = 0; i < HANDLER_DEPTH; i++)
        if (c->labels)
            jsprof_push(t, handler_text[i], NULL, 7);
        else
            jsprof_enter(t, handler_functions[i]);
    handler_measure(p, t, c);
    jsprof_close(p);
    jsprof_thread_detach(t);
}

static void handler_host(void)
{
    static const struct handler_case c = { .name = "handler, 30 labels (host's array)",
                                           .limit = "<= 2x empty" };
    jsprof *p;
    jsprof_thread *t;
    jsprof_stack stack = {
        .size = sizeof stack, .depth = &handler_depth, .entries = &handler_entries,
        .limit = HANDLER_DEPTH, .depth_bytes = 4, .stride = sizeof(struct handler_entry),
        .label_offset = offsetof(struct handler_entry, label),
        .detail_offset = offsetof(struct handler_entry, file),
        .sp_offset = offsetof(struct handler_entry, sp),
        .line_offset = offsetof(struct handler_entry, line), .pc_offset = JSPROF_NO_FIELD,
    };
    handler_open(&p, &t, &c);
    bench_need(jsprof_thread_set_stack(t, &stack) == 0, "jsprof_thread_set_stack");
    handler_depth = HANDLER_DEPTH;
    handler_measure(p, t, &c);
    jsprof_close(p);
    jsprof_thread_detach(t);
}

/* Linked entries, on a C stack that is as deep as the VM's. */
static __attribute__((noinline)) void handler_links(jsprof *p, jsprof_thread *t,
                                                    const struct handler_case *c, int depth)
{
    jsprof_link link;
    jsprof_link_enter(t, &link, handler_functions[depth]);
    if (depth + 1 < HANDLER_DEPTH)
        handler_links(p, t, c, depth + 1);
    else
        handler_measure(p, t, c);
    jsprof_link_leave(t, &link);
}

static void handler_linked(const struct handler_case *c)
{
    jsprof *p;
    jsprof_thread *t;
    handler_open(&p, &t, c);
    handler_links(p, t, c, 0);
    jsprof_close(p);
    jsprof_thread_detach(t);
}

static void handler_empty_stack(void)
{
    static const struct handler_case c = { .name = "handler, no frame at all" };
    jsprof *p;
    jsprof_thread *t;
    handler_open(&p, &t, &c);
    handler_measure(p, t, &c);
    jsprof_close(p);
    jsprof_thread_detach(t);
}

/* -- Parts ------------------------------------------------------------------- */

enum handler_part {
    PART_MONOTONIC, PART_CPU, PART_REARM, PART_STACK, PART_PUSH, PARTS
};

static const char *const handler_part_names[] = {
    "  clock_gettime MONOTONIC, twice a sample", "  clock_gettime THREAD_CPUTIME",
    "  timer_settime", "  reading 30 frames", "  copy into the ring",
};

static void handler_part_run(enum handler_part part, struct jsp_sampled *s, ucontext_t *uc)
{
    struct jsp_where where = { .ucontext = uc, .sp = jsp_regs_sp(uc) };
    struct itimerspec when = { { 0, 0 }, { HANDLER_FAR, 0 } };
    struct timespec ts;
    switch (part) {
    case PART_MONOTONIC: clock_gettime(CLOCK_MONOTONIC, &ts); break;
    case PART_CPU: clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts); break;
    case PART_REARM: timer_settime(s->timer.posix, TIMER_ABSTIME, &when, NULL); break;
    case PART_STACK: jsp_vmstack_read(&s->vm, &s->names, &where, s->record); break;
    case PART_PUSH:
        jsp_ring_push(&s->ring, (const uint64_t *)(const void *)s->record,
                      jsp_record_words(jsp_record_frames(s->record), 0));
        break;
    case PARTS: break;
    }
}

static void handler_part(enum handler_part part, struct jsp_sampled *s, jsprof *p)
{
    static struct bench_series series;
    ucontext_t uc;
    getcontext(&uc);
    series.n = 0;
    for (int r = bench_rounds(51); r > 0; r--) {
        int n = part == PART_PUSH ? HANDLER_BATCH : HANDLER_PARTS;
        jsprof_flush(p);
        double begin = bench_ns(CLOCK_MONOTONIC);
        for (int i = 0; i < n; i++)
            handler_part_run(part, s, &uc);
        bench_add(&series, (bench_ns(CLOCK_MONOTONIC) - begin) / n);
    }
    bench_print(&(struct bench_row){ handler_part_names[part], .unit = " ns" }, &series);
}

static void handler_parts(int clock)
{
    struct handler_case c = { .clock = clock };
    jsprof *p;
    jsprof_thread *t;
    handler_open(&p, &t, &c);
    for (int i = 0; i < HANDLER_DEPTH; i++)
        jsprof_enter(t, handler_functions[i]);
    handler_send(SIGPROF, handler_value(t));
    printf("note\tparts of the handler, %s clock:\n", clock == JSPROF_CLOCK_CPU ? "CPU" : "wall");
    for (int part = 0; part < PARTS; part++)
        handler_part((enum handler_part)part, (struct jsp_sampled *)(void *)t, p);
    jsprof_close(p);
    jsprof_thread_detach(t);
}

static void handler_set_up(void)
{
    struct sigaction action = { .sa_sigaction = handler_empty,
                                .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
    sigfillset(&action.sa_mask);
    bench_need(sigaction(SIGUSR2, &action, NULL) == 0, "sigaction");
    for (int i = 0; i < HANDLER_DEPTH; i++) {
        snprintf(handler_text[i], sizeof handler_text[i], "function_number_%03d_of_a_program", i);
        bench_need(jsprof_function_new(&handler_functions[i], handler_text[i], NULL, 0,
                                       JSPROF_KIND_VM) == 0, "jsprof_function_new");
        handler_stack[i] = (struct handler_entry){ handler_text[i], NULL, &handler_stack[i], 3 };
    }
}

static const struct handler_case handler_cases[] = {
    { "handler, 30 functions (array)", "<= 2x empty", JSPROF_CLOCK_CPU, false, false },
    { "handler, the same, wall clock", "<= 2x empty", JSPROF_CLOCK_WALL, false, false },
    { "handler, 30 labels (array)", "<= 2x empty", JSPROF_CLOCK_CPU, true, false },
};

static const struct handler_case handler_linked_cases[] = {
    { "handler, 30 linked functions", "<= 2x empty", JSPROF_CLOCK_CPU, false, false },
    { "handler, 30 native and 30 linked", "<= 2x empty", JSPROF_CLOCK_CPU, false, true },
};

int main(void)
{
    bench_pin();
    handler_set_up();
    handler_empty_stack();
    for (size_t i = 0; i < sizeof handler_linked_cases / sizeof *handler_linked_cases; i++)
        handler_linked(&handler_linked_cases[i]);
    for (size_t i = 0; i < sizeof handler_cases / sizeof *handler_cases; i++)
        handler_array(&handler_cases[i]);
    handler_host();
    if (bench_verbose()) {
        handler_parts(JSPROF_CLOCK_CPU);
        handler_parts(JSPROF_CLOCK_WALL);
    }
    return 0;
}
