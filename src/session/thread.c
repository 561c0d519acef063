/* session/thread.c - see thread.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "signals.h"
#include "unseen.h"

enum {
    THREAD_WAIT_NS = 50000, THREAD_WAITS = 20000, /* wait one second for the handler */
    /* array entries; memory is taken when they are first used */
    THREAD_CAPACITY = 1 << 14,
    THREAD_LATER_NS = 1000000000, /* of a source that is set to its time next */
};

static _Atomic uint64_t thread_numbers;

/* The offsets in bytes of what follows struct jsp_thread in its mapping. */
struct thread_layout {
    size_t frames, walked, scratch, record, merged, ring, tasks, task_stacks, end;
};

static size_t thread_part(size_t *at, size_t bytes)
{
    size_t begin = (*at + JSP_CACHELINE - 1) & ~(size_t)(JSP_CACHELINE - 1);
    *at = begin + bytes;
    return begin;
}

/* Return more entries than a sample keeps, so that the innermost ones of a deep stack are
 * known. */
static uint32_t thread_capacity(const struct jsp_thread_setup *setup)
{
    return setup->max_depth > THREAD_CAPACITY ? setup->max_depth : THREAD_CAPACITY;
}

static struct thread_layout thread_lay_out(const struct jsp_thread_setup *setup)
{
    struct thread_layout l;
    size_t at = sizeof(struct jsp_thread);
    l.frames = thread_part(&at, thread_capacity(setup) * sizeof(jsprof_frame));
    l.walked = thread_part(&at, setup->max_depth * sizeof(jsprof_frame));
    l.scratch = thread_part(&at, JSP_VMSTACK_SCRATCH);
    uint32_t vm = JSP_RECORD_FRAMES(setup->max_depth);
    uint32_t record = jsp_record_words(vm, setup->max_depth);
    l.record = thread_part(&at, record * sizeof(uint64_t) + JSP_TAGS_BYTES);
    l.merged = thread_part(&at, (vm + setup->max_depth) * sizeof(struct jsp_merged));
    l.ring = thread_part(&at, setup->ring_words * sizeof(uint64_t));
    l.tasks = thread_part(&at, setup->ring_words * sizeof(uint64_t));
    l.task_stacks = thread_part(&at, JSP_TASKS_STACKS * sizeof(struct jsp_tasks_stack));
    l.end = at;
    return l;
}

static void thread_unwinder(struct jsp_thread *t, const struct jsp_thread_setup *setup)
{
    const struct jsp_vmstack *vm = &t->sampled.vm;
    bool known = vm->stack_high != UINTPTR_MAX;
    jsp_unwinder_init(&t->sampled.unwinder, known ? vm->stack_low : 0,
                      known ? vm->stack_high : 0, t->pid);
    t->sampled.unwinder.mem.single = setup->single;
    t->sampled.vm.mem = &t->sampled.unwinder.mem;
    jsp_live_init(&t->sampled.unwinder.live, setup->find_sigsafe);
    t->sampled.unwinder.jit = setup->jit;
}

static void thread_allocs(struct jsp_sampled *s, const struct jsp_thread_setup *setup)
{
    if (!setup->allocs)
        return;
    /* ORDER: relaxed. The caller holds the session, so the table stays. */
    atomic_fetch_add_explicit(&setup->allocs->holders, 1, memory_order_relaxed);
    jsp_alloc_open(s, setup->allocs, setup->alloc);
}

/* Let the host's inline code report allocations from now on, or no longer. */
static void thread_report_allocs(struct jsp_sampled *s, bool is_on)
{
    if (s->alloc.table)
        /* ORDER: release, pairs with the acquire in jsprof_alloc_homes. */
        __atomic_store_n(&s->own.alloc_homes, is_on ? s->alloc.table->homes : NULL,
                         __ATOMIC_RELEASE);
}

static void thread_fill(struct jsp_thread *t, const struct jsp_thread_setup *setup,
                        const struct thread_layout *l)
{
    struct jsp_sampled *s = &t->sampled;
    char *base = (char *)t;
    s->own.frames = (void *)(base + l->frames);
    s->own.capacity = thread_capacity(setup);
    s->record = (void *)(base + l->record);
    s->merged = (void *)(base + l->merged);
    s->session = setup->session;
    s->signo = setup->signo;
    s->handler = jsp_sample_handle;
    /* ORDER: relaxed. Only uniqueness counts. */
    s->number = atomic_fetch_add_explicit(&thread_numbers, 1, memory_order_relaxed) + 1;
    jsp_ring_init(&s->ring, (void *)(base + l->ring), setup->ring_words);
    jsp_names_init(&s->names, setup->arena);
    jsp_vmstack_init(&s->vm, &s->own, setup->max_depth, (void *)(base + l->walked));
    s->vm.scratch = base + l->scratch;
    jsp_thread_find_stack(&s->vm);
    s->map = setup->map;
    s->ask = setup->ask;
    s->drain_sigsafe = setup->drain_sigsafe;
    thread_unwinder(t, setup);
    s->empty_id = jsp_arena_synth(setup->arena, "[no VM frame]");
    s->vm.cut_id = jsp_arena_synth(setup->arena, "[frames cut]");
    s->vm.deeper_id = jsp_arena_synth(setup->arena, "[deeper frames cut]");
    s->cut_native_id = jsp_arena_synth(setup->arena, "[C frames cut]");
    thread_allocs(s, setup);
    const struct jsp_tasks_memory tasks = {
        s, setup->tasks, setup->arena, (void *)(base + l->tasks), setup->ring_words,
        (void *)(base + l->task_stacks), t->tid,
    };
    jsp_tasks_init(&t->tasks, &tasks);
}

/* Return the kernel's number of a thread's CPU time clock. */
static clockid_t thread_cpu_clock(pid_t tid)
{
    return (clockid_t)(~(unsigned)tid << 3 | 6);
}

int jsp_thread_check(void)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    clockid_t clock;
    /* also in the child of a raw fork, where the C library is wrong */
    if (tid == getpid())
        return 0;
    bool is_known = pthread_getcpuclockid(pthread_self(), &clock) == 0 &&
                    clock == thread_cpu_clock(tid);
    return is_known ? 0 : -ENOTSUP;
}

static int thread_map(struct jsp_thread **out, size_t bytes)
{
    struct jsp_thread *t = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                -1, 0);
    if (t == MAP_FAILED)
        return -errno;
    t->looked = malloc(sizeof *t->looked);
    t->link = malloc(sizeof *t->link);
    if (!t->looked || !t->link) {
        free(t->looked);
        free(t->link);
        munmap(t, bytes);
        return -ENOMEM;
    }
    *out = t;
    return 0;
}

int jsp_thread_create(struct jsp_thread **out, const struct jsp_thread_setup *setup,
                      uint32_t id, const char *name)
{
    struct thread_layout l = thread_lay_out(setup);
    pid_t tid = (pid_t)syscall(SYS_gettid);
    struct jsp_thread *t = setup->spares ? jsp_spare_take(setup->spares, l.end) : NULL;
    int err = t ? 0 : thread_map(&t, l.end);
    if (err)
        return err;
    *t->link = (struct jsp_thread_link){ .thread = t, .id = id };
    t->session = setup->session;
    t->bytes = l.end;
    t->tid = tid;
    t->cpu_clock = thread_cpu_clock(tid);
    t->pid = getpid();
    t->me = jsp_calls_me();
    t->owned = true;
    t->listed = true;
    memcpy(t->name, name, strnlen(name, sizeof t->name - 1));
    thread_fill(t, setup, &l);
    *out = t;
    return 0;
}

static void thread_zero(_Atomic uint64_t *counter)
{
    /* ORDER: relaxed. There is no other thread in this process, and no timer. */
    atomic_store_explicit(counter, 0, memory_order_relaxed);
}

static void thread_renew_counters(struct jsp_sampled *s)
{
    _Atomic uint64_t *const all[] = {
        &s->expirations, &s->handler_ns, &s->due_ns, &s->owed_ns, &s->hidden_ns, &s->vm.n_cut,
        &s->alloc.drawn, &s->alloc.n_lost, &s->alloc.n_untold,
        &s->vm.n_bad, &s->names.n_cut, &s->names.n_bad,
    };
    for (int cause = 0; cause < JSP_N_LOSSES; cause++)
        thread_zero(&s->lost[cause]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        thread_zero(all[i]);
    s->own.underflows = 0;
}

void jsp_thread_renew(struct jsp_thread *t, const struct jsp_thread_setup *setup)
{
    struct jsp_sampled *s = &t->sampled;
    size_t head = offsetof(struct jsp_thread, unseen);
    t->tid = (pid_t)syscall(SYS_gettid);
    t->pid = getpid();
    t->cpu_clock = thread_cpu_clock(t->tid);
    *t->link = (struct jsp_thread_link){ .thread = t };
    t->stuck = false;
    memset((char *)t + head, 0, sizeof *t - head);
    s->own.counting = 0;
    s->own.counts = NULL;
    s->own.calls = NULL;
    thread_renew_counters(s);
    /* ORDER: relaxed, as in thread_zero. */
    atomic_store_explicit(&s->armed, false, memory_order_relaxed);
    /* ORDER: relaxed, as in thread_zero. */
    atomic_store_explicit(&s->settled, false, memory_order_relaxed);
    /* ORDER: relaxed, as in thread_zero. */
    atomic_store_explicit(&s->seq, 0, memory_order_relaxed);
    /* ORDER: relaxed, as in thread_zero. */
    atomic_store_explicit(&s->busy, false, memory_order_relaxed);
    /* ORDER: relaxed. Only uniqueness counts. */
    s->number = atomic_fetch_add_explicit(&thread_numbers, 1, memory_order_relaxed) + 1;
    jsp_ring_init(&s->ring, s->ring.words, setup->ring_words);
    memset(&s->unwinder, 0, sizeof s->unwinder);
    s->drain_sigsafe = setup->drain_sigsafe;
    thread_unwinder(t, setup);
    s->own.alloc_homes = NULL;
    thread_allocs(s, setup); /* the parent's table stays as it was */
    jsp_tasks_renew(&t->tasks, t->tid);
}

/* Return the system's clock for `clock` and this thread. Every thread can read it. */
static clockid_t thread_clock(const struct jsp_thread *t, enum jsp_clock clock)
{
    return clock == JSP_CLOCK_CPU ? t->cpu_clock : CLOCK_MONOTONIC;
}

static void thread_begin(struct jsp_thread *t, const struct jsp_thread_setup *setup)
{
    for (int clock = 0; clock < JSP_N_CLOCKS; clock++)
        t->armed_at[clock] = jsp_now_ns(thread_clock(t, (enum jsp_clock)clock));
    memcpy(t->sampled.last_ns, t->armed_at, sizeof t->armed_at);
    jsp_tick_init(&t->sampled.tick, setup->period_ns, t->armed_at[t->sampled.clock],
                  t->sampled.number ^ (uint64_t)(uintptr_t)t);
}

/* Make the timer that puts samples off. If the system refuses, the handler counts the samples that
 * it takes at once. */
static void thread_open_delay(struct jsp_thread *t, int signo)
{
    const struct jsp_kernel_timer setup = { CLOCK_MONOTONIC, t->tid, signo,
                                            jsp_sample_value(JSP_DELAY_NUMBER) };
    struct jsp_delay *d = &t->sampled.delay;
    d->has_timer = jsp_kernel_timer_open(&d->timer, &setup) == 0;
    d->naps = 0;
    d->ran_ns = 0;
    d->turn_ns = 0;
    /* ORDER: relaxed. The thread is not armed yet. */
    atomic_store_explicit(&d->n_prompt, 0, memory_order_relaxed);
}

/* Let the looker look at the thread. */
static void thread_add_looked(struct jsp_thread *t, const struct jsp_thread_setup *setup)
{
    t->looker = setup->looker;
    *t->looked = (struct jsp_looked){ .sampled = &t->sampled, .tid = t->tid,
                                      .cpu_clock = t->cpu_clock, .news = &t->link->news,
                                      .has_event = t->sampled.timer.has_event,
                                      .ran_ns = t->armed_at[JSP_CLOCK_CPU] };
    jsp_looker_add(t->looker, t->looked);
}

/* Nothing is owed yet. */
static void thread_owe_nothing(struct jsp_sampled *s)
{
    jsp_sampled_take_owed(s);
    /* ORDER: relaxed, both. The thread is not armed yet. */
    atomic_store_explicit(&s->waited, 0, memory_order_relaxed);
    atomic_store_explicit(&s->offer, JSP_OFFER_NONE, memory_order_relaxed); /* ORDER: above */
}

/* Let the looker send the signals. */
static void thread_arm_looked(struct jsp_thread *t, const struct jsp_thread_setup *setup)
{
    thread_begin(t, setup);
    thread_open_delay(t, setup->signo);
    /* ORDER: seq_cst, see S1 in sample.c. */
    atomic_store_explicit(&t->sampled.armed, true, memory_order_seq_cst);
    thread_add_looked(t, setup);
    thread_report_allocs(&t->sampled, true);
}

/* Let the timer expire beside the event. Return false if that is needed and refused. */
static bool thread_ticks(struct jsp_timer *own)
{
    return !own->is_event || !own->has_posix || jsp_timer_ticks(own) == 0 || !own->is_user;
}

/* Return the first point of the thread's own clock, which reads `now`. */
static uint64_t thread_first(struct jsp_sampled *s, uint64_t now)
{
    uint64_t first = jsp_sampled_expect(s, 0, 0);
    if (!s->timer.is_user)
        return first;
    s->timer.ticked_ns = now;
    /* ORDER: relaxed. A hint, as in sample.c. */
    atomic_store_explicit(&s->due_ns, now, memory_order_relaxed);
    return jsp_timer_draw(&s->timer, &s->tick, now, 0);
}

/* Let the thread's own timer or event send the signals. */
static int thread_arm_timer(struct jsp_thread *t, const struct jsp_thread_setup *setup)
{
    struct jsp_timer *own = &t->sampled.timer;
    uint64_t which = own->has_event ? JSP_SAMPLE_OWN : 0;
    const struct jsp_kernel_timer timer = { thread_clock(t, t->sampled.clock), t->tid,
                                            setup->signo,
                                            jsp_sample_value(t->sampled.number | which) };
    int err = jsp_kernel_timer_open(&own->posix, &timer);
    own->has_posix = !err;
    if (err && (!own->has_event || own->is_user)) {
        jsp_event_close(own); /* nothing would bring the points in the kernel */
        return err;
    }
    thread_begin(t, setup);
    uint64_t now = t->armed_at[t->sampled.clock], first = thread_first(&t->sampled, now);
    /* ORDER: seq_cst, see S1 in sample.c; also publishes the tick and the timer, which
     * belong to the handler from here on: a late signal may enter it before this timer's
     * first one. */
    atomic_store_explicit(&t->sampled.armed, true, memory_order_seq_cst);
    if (jsp_timer_set(own, now, first) == 0 && thread_ticks(own)) {
        if (setup->looker)
            thread_add_looked(t, setup);
        thread_report_allocs(&t->sampled, true);
        return 0;
    }
    err = -errno;
    jsp_thread_disarm(t);
    return err;
}

static int thread_arm(struct jsp_thread *t, const struct jsp_thread_setup *setup, bool has_event)
{
    struct jsp_sampled *s = &t->sampled;
    bool is_looked = setup->looker && !has_event;
    s->is_observed = setup->looker && has_event;
    s->clock = has_event ? JSP_CLOCK_CPU : setup->clock;
    s->delay.has_timer = false;
    t->looker = NULL;
    t->looks = setup->looker ? NULL : setup->looks;
    t->n_cut_before = jsp_counted(&s->n_cut_calls);
    t->n_again_before = jsp_counted(&s->n_again_calls);
    thread_owe_nothing(s);
    /* ORDER: relaxed. See jsp_sampled_is_looked. */
    atomic_store_explicit(&s->is_looked, is_looked, memory_order_relaxed);
    if (!is_looked)
        return thread_arm_timer(t, setup);
    thread_arm_looked(t, setup);
    return 0;
}

int jsp_thread_arm(struct jsp_thread *t, const struct jsp_thread_setup *setup)
{
    if (t->sampled.signo != setup->signo) /* events began, or ended */
        t->sampled.signo = setup->signo;
    t->sampled.timer = (struct jsp_timer){ .has_event = false };
    bool has_event = setup->events &&
                     jsp_event_open(&t->sampled.timer, t->tid, setup->signo, setup->user_events,
                                    THREAD_LATER_NS) == 0;
    int err = thread_arm(t, setup, has_event);
    return err && has_event && setup->looker ? thread_arm(t, setup, false) : err;
}

/* Wait until `is` is false. Return false after a second: the thread is stopped in
 * there. */
static bool thread_wait(const struct jsp_thread *t, bool (*is)(const struct jsp_sampled *))
{
    static const struct timespec moment = { 0, THREAD_WAIT_NS };
    for (int i = 0; i < THREAD_WAITS; i++) {
        if (!is(&t->sampled))
            return true;
        clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
    }
    return false;
}

/* Delete the timer, or at least stop it if a sandbox refuses. Remember a timer that goes
 * on, or that a thread stopped in its handler may set again. */
static void thread_end_timer(const struct jsp_thread *t, timer_t timer)
{
    if (jsp_kernel_timer_close(timer))
        return;
    if (!jsp_kernel_timer_set(timer, 0) || t->stuck)
        jsp_signals_survives(t->sampled.signo);
}

/* Let the looker send no more signals, and add the expirations that it has not sent. */
static void thread_leave_looker(struct jsp_thread *t)
{
    t->unseen.undelivered += jsp_looker_remove(t->looker, t->looked);
    if (t->sampled.delay.has_timer)
        thread_end_timer(t, t->sampled.delay.timer);
}

/* Return how late the due expiration is on its own clock, which is the elapsed time for a
 * looker's signal; return 0 if it is not due yet. */
static uint64_t thread_late_ns(const struct jsp_thread *t, uint64_t due_ns)
{
    enum jsp_clock clock = jsp_sampled_is_looked(&t->sampled) ? JSP_CLOCK_WALL
                                                              : t->sampled.clock;
    uint64_t now = jsp_now_ns(thread_clock(t, clock));
    return now > due_ns ? now - due_ns : 0;
}

/* Given an expiration so late, is its signal kept from the thread? */
static bool thread_is_kept_from(const struct jsp_thread *t, uint64_t late_ns)
{
    return jsp_unseen_waits(t->tid, t->sampled.signo) ||
           (late_ns > JSP_UNSEEN_LATE_NS && jsp_unseen_is_taken(t->sampled.signo));
}

static bool thread_is_armed(const struct jsp_thread *t)
{
    /* ORDER: relaxed. The caller holds the session's lock; besides, only the handler
     * reads it. */
    return atomic_load_explicit(&t->sampled.armed, memory_order_relaxed);
}

/* Mark the due expiration as one that will count as lost_blocked, and count it as such
 * until then. */
static void thread_mark(struct jsp_thread *t, uint64_t due_ns, uint64_t late_ns)
{
    t->unseen.due_ns = due_ns;
    t->unseen.so_far = jsp_sampled_is_looked(&t->sampled) ? jsp_counted(&t->sampled.owed)
                                            : 1 + late_ns / t->sampled.tick.period_ns;
    /* ORDER: relaxed. The value names the expiration itself, so it may be seen at any
     * time. */
    atomic_store_explicit(&t->sampled.hidden_ns, due_ns, memory_order_relaxed);
}

void jsp_thread_look(struct jsp_thread *t)
{
    uint64_t due = jsp_sampled_due_ns(&t->sampled);
    t->unseen.so_far = 0;
    if (due == UINT64_MAX) /* no signal is under way */
        return;
    uint64_t late = thread_late_ns(t, due);
    if (thread_is_armed(t) && late > JSP_UNSEEN_LATE_NS && thread_is_kept_from(t, late))
        thread_mark(t, due, late);
}

void jsp_thread_rearm(struct jsp_thread *t)
{
    uint64_t due = jsp_sampled_due_ns(&t->sampled), late = thread_late_ns(t, due);
    if (!thread_is_armed(t))
        return;
    if (late > JSP_UNSEEN_LATE_NS)
        thread_mark(t, due, late);
    if (!jsp_sampled_is_looked(&t->sampled))
        jsp_timer_set(&t->sampled.timer, due + late, due + late + t->sampled.tick.period_ns);
}

/* Count the expirations due until now as lost: no signal will come for them. */
static void thread_settle(struct jsp_thread *t, bool is_kept_from, uint64_t now)
{
    uint32_t passed = jsp_sampled_take_owed(&t->sampled);
    if (!jsp_sampled_is_looked(&t->sampled))
        passed += jsp_timer_left(&t->sampled.timer, jsp_tick_passed(&t->sampled.tick, now));
    uint64_t *loss = is_kept_from ? &t->unseen.blocked : &t->unseen.undelivered;
    *loss += passed;
    t->unseen.so_far = 0;
    /* ORDER: relaxed. Only a signal of this timer that is still under way reads it. */
    atomic_store_explicit(&t->sampled.settled, passed > 0, memory_order_relaxed);
}

/* Read each clock of the thread. A thread that is gone has the times of its last
 * sample. */
static void thread_now(const struct jsp_thread *t, uint64_t ns[JSP_N_CLOCKS])
{
    for (int clock = 0; clock < JSP_N_CLOCKS; clock++)
        ns[clock] = jsp_now_ns(thread_clock(t, (enum jsp_clock)clock));
    if (!ns[JSP_CLOCK_CPU])
        memcpy(ns, t->sampled.last_ns, sizeof t->sampled.last_ns);
}

/* Add the time from the arming until `now`. */
static void thread_add_armed(const struct jsp_thread *t, const uint64_t now[JSP_N_CLOCKS],
                             uint64_t ns[JSP_N_CLOCKS])
{
    for (int clock = 0; clock < JSP_N_CLOCKS; clock++)
        ns[clock] += now[clock] > t->armed_at[clock] ? now[clock] - t->armed_at[clock] : 0;
}

void jsp_thread_disarm(struct jsp_thread *t)
{
    /* ORDER: seq_cst, see S1 in sample.c. */
    if (!atomic_exchange_explicit(&t->sampled.armed, false, memory_order_seq_cst))
        return;
    thread_report_allocs(&t->sampled, false);
    if (!thread_wait(t, jsp_sampled_inside))
        t->stuck = true;
    uint64_t late = thread_late_ns(t, jsp_sampled_due_ns(&t->sampled));
    bool is_kept_from = late && thread_is_kept_from(t, late);
    if (t->looker)
        thread_leave_looker(t);
    if (t->looks) {
        t->looks[JSP_LOOK_CUT] += jsp_counted(&t->sampled.n_cut_calls) - t->n_cut_before;
        t->looks[JSP_LOOK_AGAIN] += jsp_counted(&t->sampled.n_again_calls) - t->n_again_before;
    }
    jsp_event_close(&t->sampled.timer);
    if (t->sampled.timer.has_posix)
        thread_end_timer(t, t->sampled.timer.posix);
    uint64_t now[JSP_N_CLOCKS];
    thread_now(t, now);
    if (!t->stuck)
        thread_settle(t, is_kept_from, now[t->sampled.clock]);
    thread_add_armed(t, now, t->armed_ns);
}

void jsp_thread_seal(struct jsp_thread *t)
{
    /* ORDER: seq_cst, see B1 in backtrace.c. */
    atomic_store_explicit(&t->sampled.closed, true, memory_order_seq_cst);
    if (!thread_wait(t, jsp_sampled_inside) || !thread_wait(t, jsp_sampled_busy))
        t->stuck = true;
}

bool jsp_thread_counts(struct jsp_thread *t, bool patient, struct jsp_counts *out)
{
    if (patient && !t->stuck)
        thread_wait(t, jsp_sampled_inside);
    if (!jsp_sampled_counts(&t->sampled, out))
        return false;
    const struct jsp_unseen *u = &t->unseen;
    uint64_t blocked = u->blocked + (u->due_ns == out->due_ns ? u->so_far : 0);
    out->lost[JSP_LOST_BLOCKED] += blocked;
    out->lost[JSP_LOST_UNDELIVERED] += u->undelivered;
    out->lost[JSP_LOST_QUICK] += t->dropped;
    out->expirations += blocked + u->undelivered;
    jsp_counts_subtract(out, &t->before);
    return true;
}

void jsp_thread_armed_ns(const struct jsp_thread *t, uint64_t ns[JSP_N_CLOCKS])
{
    uint64_t now[JSP_N_CLOCKS];
    memcpy(ns, t->armed_ns, sizeof t->armed_ns);
    if (!thread_is_armed(t))
        return;
    thread_now(t, now);
    thread_add_armed(t, now, ns);
}
