/* sim.c - the simulated machine: its time, its scheduler and its threads. See sim.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum sim_event_is { EVENT_STEP, EVENT_WAKE, EVENT_SIGNAL, EVENT_TICK, EVENT_QUOTA, EVENT_HALT };

struct sim_event {
    uint64_t at, serial; /* of a step or a sleep: only the newest one of its thread counts */
    pid_t tid;           /* of a thread; the number of a processor for a tick */
    enum sim_event_is is;
    enum sim_signal signal;
};

struct sim sim;
static struct sim_event *heap;
static uint32_t n_heap, heap_room;
static uint64_t sim_end; /* the looker sleeps no longer */
static uint64_t n_serials;
static pid_t n_tids;

/* -- Events, the earliest first --------------------------------------------- */

static void heap_push(struct sim_event e)
{
    if (n_heap == heap_room) {
        heap_room = heap_room ? 2 * heap_room : 64;
        heap = realloc(heap, heap_room * sizeof *heap);
    }
    uint32_t i = n_heap++;
    for (; i && heap[(i - 1) / 2].at > e.at; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = e;
}

static struct sim_event heap_pop(void)
{
    struct sim_event top = heap[0], e = heap[--n_heap];
    uint32_t i = 0;
    for (uint32_t next; (next = 2 * i + 1) < n_heap; i = next) {
        next += next + 1 < n_heap && heap[next + 1].at < heap[next].at;
        if (heap[next].at >= e.at)
            break;
        heap[i] = heap[next];
    }
    heap[i] = e;
    return top;
}

uint64_t sim_random(uint64_t n)
{
    return (jsp_tick_random(&sim.random) >> 16) % n;
}

struct sim_thread *sim_find(pid_t tid)
{
    for (uint32_t i = 0; i < sim.n_threads; i++)
        if (sim.threads[i]->tid == tid)
            return sim.threads[i];
    return tid == sim.self.tid ? &sim.self : NULL;
}

void sim_later(uint64_t at, struct sim_thread *t, enum sim_signal signal)
{
    heap_push((struct sim_event){ .at = at, .tid = t->tid, .is = EVENT_SIGNAL,
                                  .signal = signal });
}

/* -- Time ---------------------------------------------------------------------- */

uint64_t sim_cpu_ns(const struct sim_thread *t)
{
    return t->cpu_ns + (t->is == SIM_ON ? sim.now - t->since : 0);
}

/* Charge the time since the last call to what the thread did meanwhile. */
static void account(struct sim_thread *t)
{
    uint64_t ns = sim.now - t->since;
    t->since = sim.now;
    if (t->is == SIM_ON) {
        t->cpu_ns += ns;
        t->left_ns -= ns < t->left_ns ? ns : t->left_ns;
        sim.process_ns += t->is_other ? 0 : ns;
        sim.spent_ns += t->is_other ? 0 : ns;
    }
    if (t->is == SIM_READY && !(sim.is_halted && !t->is_other))
        t->waited_ns += ns;
    if (t != &sim.self && (t->is == SIM_ON || sim.setup.is_wall))
        t->true_ns[t->step.function] += ns;
}

static void account_all(void)
{
    account(&sim.self);
    for (uint32_t i = 0; i < sim.n_threads; i++)
        account(sim.threads[i]);
}

static void step_begin(struct sim_thread *t)
{
    t->serial = ++n_serials;
    heap_push((struct sim_event){ .at = sim.now + t->left_ns, .serial = t->serial,
                                  .tid = t->tid, .is = EVENT_STEP });
}

static bool is_inside(const struct sim_thread *t)
{
    return t->step.does == SIM_CALL && t->left_ns;
}

/* Return true if signals wait for the end of such a step. */
static bool holds_signals(enum sim_does does)
{
    return does == SIM_CALL || does == SIM_BLOCKED || does == SIM_FORKS;
}

/* Return true if the thread, which runs, can take a signal at this moment. */
static bool takes_signals(const struct sim_thread *t)
{
    return !holds_signals(t->step.does) || !t->left_ns;
}

static void take_signals(struct sim_thread *t)
{
    for (unsigned one = SIM_LOOK; one <= SIM_DEEP; one <<= 1)
        if (t->signals & one) {
            t->signals &= ~one;
            sim_handle(t, (enum sim_signal)one);
        }
}

/* -- The scheduler ------------------------------------------------------------ */

static bool may_run(const struct sim_thread *t)
{
    return t->is_other || !(sim.is_throttled || sim.is_halted);
}

static void enqueue(struct sim_thread *t, bool is_first)
{
    int c = t->cpu;
    account(t);
    t->is = SIM_READY;
    t->is_woken = is_first;
    t->next = is_first ? sim.first[c] : NULL;
    if (is_first) {
        sim.first[c] = t;
        sim.last[c] = sim.last[c] ? sim.last[c] : t;
        return;
    }
    if (sim.last[c])
        sim.last[c]->next = t;
    else
        sim.first[c] = t;
    sim.last[c] = t;
}

/* Take the first thread that may run on processor `c` from the queue of `from`, or NULL. */
static struct sim_thread *dequeue(int from, int c)
{
    struct sim_thread **link = &sim.first[from], *t, *before = NULL;
    while (*link && !(may_run(*link) && (from == c || (*link)->only < 0))) {
        before = *link;
        link = &(*link)->next;
    }
    t = *link;
    if (!t)
        return NULL;
    *link = t->next;
    if (sim.last[from] == t)
        sim.last[from] = before;
    t->cpu = c;
    return t;
}

static void dispatch(int c)
{
    if (sim.on[c])
        return;
    struct sim_thread *t = dequeue(c, c);
    for (int from = 0; !t && from < sim.setup.cpus; from++)
        t = dequeue(from, c);
    if (!t)
        return;
    account(t);
    t->is = SIM_ON;
    t->given = sim.now;
    if (t == &sim.self)
        t->until_ns = sim.now;
    sim.on[c] = t;
    step_begin(t);
    if (takes_signals(t))
        take_signals(t);
}

static bool is_slice_over(const struct sim_thread *t)
{
    return t->cpu_ns - t->slice_ns >= SIM_SLICE_NS;
}

/* Let a thread wait that has lost its processor: until all others had theirs if its slice is over,
 * else only while the thread runs that woke up. */
static void put_off(struct sim_thread *t)
{
    struct sim_thread *woken = sim.first[t->cpu];
    account(t);
    if (is_slice_over(t) || !woken || !woken->is_woken) {
        t->slice_ns = t->cpu_ns;
        enqueue(t, false);
        return;
    }
    t->is = SIM_READY;
    t->is_woken = false;
    t->next = woken->next;
    woken->next = t;
    if (sim.last[t->cpu] == woken)
        sim.last[t->cpu] = t;
}

/* Take the processor away, or at the end of the system call. */
static void preempt(int c)
{
    struct sim_thread *t = sim.on[c];
    sim.resched[c] = t && is_inside(t);
    if (!t || sim.resched[c])
        return;
    t->stops++;
    if (t != &sim.self)
        t->until_ns = sim.now;
    t->serial = 0;
    sim.on[c] = NULL;
    put_off(t);
    dispatch(c);
}

static void wake(struct sim_thread *t)
{
    int cpus = sim.setup.cpus;
    if (t->only < 0 && sim.on[t->cpu])
        for (int c = 0; c < cpus; c++)
            if (!sim.on[c] || (sim.on[t->cpu] && sim.on[c]->given < sim.on[t->cpu]->given))
                t->cpu = c;
    enqueue(t, true);
    struct sim_thread *on = sim.on[t->cpu];
    bool is_late = on && t == &sim.self && sim_random(1000) < sim.setup.late_of_1000;
    if (!on)
        dispatch(t->cpu);
    else if (!is_late && sim.now - on->given >= SIM_GRAIN_NS && may_run(t))
        preempt(t->cpu);
}

/* The thread gives its processor up. */
static void give_up(struct sim_thread *t, enum sim_is is)
{
    int c = t->cpu;
    account(t);
    t->is = is;
    t->slice_ns = t->cpu_ns;
    t->until_ns = sim.now;
    t->serial = ++n_serials;
    sim.on[c] = NULL;
    sim.resched[c] = false;
    dispatch(c);
}

static void sleep_for(struct sim_thread *t, uint64_t ns)
{
    t->naps++;
    give_up(t, SIM_ASLEEP);
    heap_push((struct sim_event){ .at = sim.now + ns, .serial = t->serial, .tid = t->tid,
                                  .is = EVENT_WAKE });
}

static void sum_up(const struct sim_thread *t)
{
    for (int f = 0; f < SIM_FUNCTIONS; f++) {
        sim.gone.true_ns[f] += t->true_ns[f];
        sim.gone.got[f] += t->got[f];
        sim.gone.squares[f] += t->squares[f];
    }
    for (int cause = 0; cause < JSP_N_LOSSES; cause++)
        sim.gone.lost[cause] += jsp_counted(&t->sampled->lost[cause]);
    sim.gone.waited += t->waited;
    sim.gone.stopped += t->stopped;
    sim.gone.true_waited_ns += t->waited_ns;
    sim.gone.n_cut += t->n_cut;
    sim.gone.undelivered += t->undelivered;
}

static void disarm(struct sim_thread *t)
{
    /* ORDER: relaxed. There is one real thread. */
    atomic_store_explicit(&t->sampled->armed, false, memory_order_relaxed);
}

/* Note the time and the points of a thread that leaves. */
static void settle(struct sim_thread *t)
{
    uint64_t time = sim.setup.is_wall ? sim.now - t->looked.added_ns
                                      : sim_cpu_ns(t) - t->begun_ns;
    disarm(t);
    t->undelivered = jsp_looker_remove(&sim.looker, &t->looked) +
                     jsp_sampled_take_owed(t->sampled);
    uint64_t had = t->undelivered + jsp_counted(&t->sampled->expirations);
    sim.left_time += jsp_looker_periods(&sim.looker, time);
    sim.left_points += (int64_t)had * JSP_LOOKER_WHOLE;
    sim.slack++;
}

/* The thread detaches, and is no more. */
static void leave(struct sim_thread *t)
{
    if (!t->is_other) {
        settle(t);
        sim.n_bad += !sim_drain(t);
        sum_up(t);
    }
    sim.n_left++;
    for (uint32_t i = 0; i < sim.n_threads; i++)
        if (sim.threads[i] == t)
            sim.threads[i] = sim.threads[--sim.n_threads];
    free(t->words);
    free(t->sampled);
    free(t);
}

void sim_leavers(void)
{
    struct sim_thread *t = sim.leaving;
    sim.leaving = NULL;
    for (struct sim_thread *next; t; t = next) {
        next = t->next;
        leave(t);
    }
}

static void next_step(struct sim_thread *t)
{
    int c = t->cpu;
    t->step = t->script(t);
    t->n_step++;
    t->left_ns = t->step.ns;
    if (t->step.does == SIM_SLEEP) {
        sleep_for(t, t->step.ns);
    } else if (t->step.does == SIM_MOVES) {
        give_up(t, SIM_ASLEEP);
        t->cpu = (c + 1) % sim.setup.cpus;
        t->serial = 0;
        enqueue(t, false);
        dispatch(t->cpu);
    } else if (t->step.does == SIM_EXIT) {
        if (!t->is_other)
            disarm(t);
        give_up(t, SIM_LEAVES);
        if (sim.in_turn) { /* it waits for the looker's lock */
            t->next = sim.leaving;
            sim.leaving = t;
        } else {
            leave(t);
        }
    } else {
        if (t->step.does == SIM_PAUSED)
            jsp_sampled_pause(t->sampled, 1);
        step_begin(t);
        if (sim.resched[c])
            preempt(c);
    }
}

/* -- What happens ------------------------------------------------------------- */

static void step_end(struct sim_thread *t)
{
    account(t);
    if (t == &sim.self) /* sim_spend waits for it */
        return;
    if (holds_signals(t->step.does)) {
        t->signals |= t->under_way;
        t->under_way = 0;
        take_signals(t);
    }
    if (t->step.does == SIM_PAUSED)
        jsp_sampled_pause(t->sampled, -1);
    next_step(t);
}

static void signal_comes(struct sim_thread *t, enum sim_signal signal)
{
    if (signal == SIM_LOOK && !(t->under_way & SIM_LOOK)) /* a system call has pulled it forward */
        return;
    t->under_way &= ~(unsigned)signal;
    if (t->is == SIM_ASLEEP || (t->is == SIM_ON && takes_signals(t)))
        sim_handle(t, signal);
    else
        t->signals |= signal;
}

static void take_process_off(void)
{
    for (int c = 0; c < sim.setup.cpus; c++)
        if (sim.on[c] && !sim.on[c]->is_other)
            preempt(c);
}

static void dispatch_all(void)
{
    for (int c = 0; c < sim.setup.cpus; c++)
        dispatch(c);
}

static void tick(int c)
{
    struct sim_thread *t = sim.on[c];
    heap_push((struct sim_event){ .at = sim.now + SIM_TICK_NS, .tid = c, .is = EVENT_TICK });
    if (!t)
        return;
    account(t);
    if (t->deep_at && t->cpu_ns >= t->deep_at) {
        t->deep_at = 0;
        signal_comes(t, SIM_DEEP);
    }
    if (sim.alarm_at && !t->is_other && sim.process_ns >= sim.alarm_at) {
        sim.alarm_at = 0;
        if (sim.self.is == SIM_ASLEEP) {
            sim.has_alarm = true;
            wake(&sim.self);
        }
    }
    if (sim.setup.quota_ns && sim.spent_ns >= sim.setup.quota_ns && !sim.is_throttled) {
        sim.is_throttled = true;
        take_process_off();
    } else if (sim.first[c] && sim.on[c] == t &&
               (is_slice_over(t) ||
                (sim.first[c]->is_woken && sim.now - t->given >= SIM_GRAIN_NS))) {
        preempt(c);
    }
}

static void halt(void)
{
    account_all();
    sim.is_halted = !sim.is_halted;
    if (sim.is_halted) {
        take_process_off();
        heap_push((struct sim_event){ .at = sim.setup.halt_until, .is = EVENT_HALT });
    } else if (sim.setup.halt_each) {
        sim.setup.halt_at += sim.setup.halt_each;
        sim.setup.halt_until += sim.setup.halt_each;
        heap_push((struct sim_event){ .at = SIM_S + sim.setup.halt_at, .is = EVENT_HALT });
    }
    dispatch_all();
}

static void quota(void)
{
    sim.spent_ns = 0;
    sim.is_throttled = false;
    heap_push((struct sim_event){ .at = sim.now + SIM_QUOTA_PERIOD_NS, .is = EVENT_QUOTA });
    dispatch_all();
}

static void happen(void)
{
    struct sim_event e = heap_pop();
    struct sim_thread *t = e.is <= EVENT_SIGNAL ? sim_find(e.tid) : NULL;
    sim.now = e.at;
    if (e.is == EVENT_TICK)
        tick(e.tid);
    else if (e.is == EVENT_QUOTA)
        quota();
    else if (e.is == EVENT_HALT)
        halt();
    else if (t && e.is == EVENT_SIGNAL)
        signal_comes(t, e.signal);
    else if (t && e.serial == t->serial && e.is == EVENT_STEP)
        step_end(t);
    else if (t && e.serial == t->serial && t->is == SIM_ASLEEP) {
        t->serial = 0;
        account(t);
        t->left_ns = 0;
        wake(t);
    }
}

/* -- The looker's time --------------------------------------------------------- */

void sim_spend(uint64_t ns)
{
    struct sim_thread *self = &sim.self;
    if (!sim.in_turn) /* another thread calls the looker */
        return;
    self->left_ns = ns;
    if (self->is == SIM_ON && heap[0].at > sim.now + ns) { /* nothing happens meanwhile */
        sim.now += ns;
        account(self);
        return;
    }
    if (self->is == SIM_ON)
        step_begin(self);
    while (self->is != SIM_ON || self->left_ns)
        happen();
}

void sim_rest(uint64_t ns)
{
    struct sim_thread *self = &sim.self;
    uint64_t until = sim.now + ns < sim_end ? sim.now + ns : sim_end;
    self->left_ns = 0;
    sleep_for(self, until > sim.now ? until - sim.now + sim_random(50 * SIM_US) : 0);
    while (self->is != SIM_ON)
        happen();
}

/* Points drawn = points reported + points owed, for this thread and its clock. */
static void check(const struct sim_thread *t)
{
    const struct jsp_looked *k = &t->looked;
    int64_t whole = JSP_LOOKER_WHOLE;
    const struct jsp_sampled *s = t->sampled;
    uint64_t had = jsp_counted(&s->expirations) + jsp_counted(&s->owed) + k->debt;
    int64_t off;
    if (sim.setup.is_wall)
        off = (int64_t)(k->n_points - had - k->again - k->ran) - k->rest - k->slept - k->halted;
    else
        off = (jsp_looker_periods(&sim.looker, k->ran_ns - t->begun_ns) - k->balance) / whole -
              (int64_t)had;
    /* on the CPU clock each look rounds; a point that pays back for threads that are gone was
     * drawn, and nobody has it */
    int64_t most = sim.setup.is_wall ? 0 : 1 + (int64_t)(sim.n_looks >> 16);
    bool is_bad = off < -most || (off > most && !sim.n_left);
    if (is_bad && !sim.n_bad++)
        printf("# account of thread %d is off by %lld points at %llu us\n", (int)t->tid,
               (long long)off, (unsigned long long)(sim.now / SIM_US));
}

/* Return the points of the thread that no sample or loss has counted yet, in
 * JSP_LOOKER_WHOLEths. */
static int64_t held(const struct sim_thread *t)
{
    const struct jsp_looked *k = &t->looked;
    int64_t points = (int64_t)(k->debt + jsp_counted(&t->sampled->owed));
    if (!sim.setup.is_wall)
        return points * JSP_LOOKER_WHOLE + k->balance;
    points += (int64_t)(k->again + k->ran) + k->rest + k->slept + k->halted;
    return points * JSP_LOOKER_WHOLE;
}

/* Of all threads together, also of those that have left: points drawn = points owed + points
 * sampled + each loss + what the looker carries over to other threads. */
static void check_all(void)
{
    int64_t drawn = sim.left_time, known = sim.left_points + sim.looker.carry;
    for (uint32_t i = 0; i < sim.n_threads; i++) {
        struct sim_thread *t = sim.threads[i];
        if (t->is_other)
            continue;
        drawn += sim.setup.is_wall
                     ? (int64_t)t->looked.n_points * JSP_LOOKER_WHOLE
                     : jsp_looker_periods(&sim.looker, t->looked.ran_ns - t->begun_ns);
        known += held(t) + (int64_t)jsp_counted(&t->sampled->expirations) * JSP_LOOKER_WHOLE;
        /* a look at a thread that ran rounds its time down, and an offer before that, too */
        sim.slack += !sim.setup.is_wall && t->looked.ran_ns != t->checked_ns ? 2 : 0;
        t->checked_ns = t->looked.ran_ns;
    }
    int64_t off = drawn - known;
    if ((off < -sim.slack || off > sim.slack) && !sim.n_bad++)
        printf("# the account of all is off by %.2f points at %llu us\n",
               (double)off / JSP_LOOKER_WHOLE, (unsigned long long)(sim.now / SIM_US));
}

static void drain_all(void)
{
    if (sim.now < sim.drained_at + sim.setup.drain_ns)
        return;
    sim.drained_at = sim.now;
    for (uint32_t i = 0; i < sim.n_threads; i++)
        if (!sim.threads[i]->is_other)
            sim.n_bad += !sim_drain(sim.threads[i]);
}

void sim_pass(uint64_t ns)
{
    static bool is_alarm;
    sim_end = sim.now + ns;
    pthread_mutex_lock(&sim.looker.lock);
    while (sim.now < sim_end) {
        sim.in_turn = true;
        sim.n_looks++;
        is_alarm = jsp_looker_turn(&sim.looker, is_alarm);
        drain_all();
        for (uint32_t i = 0; i < sim.n_threads; i++)
            if (!sim.threads[i]->is_other)
                check(sim.threads[i]);
        check_all();
    }
    sim.in_turn = false;
    pthread_mutex_unlock(&sim.looker.lock);
}

/* -- A machine and its threads ---------------------------------------------------- */

void sim_open(const struct sim_setup *setup)
{
    sim = (struct sim){ .setup = *setup, .now = SIM_S, .random = setup->seed * 2 + 1 };
    n_heap = 0;
    n_serials = 0;
    n_tids = 1000;
    sim.self = (struct sim_thread){ .tid = n_tids, .is = SIM_ON, .only = -1, .since = sim.now,
                                    .given = sim.now, .step.does = SIM_RUN };
    sim.on[0] = &sim.self;
    for (int c = 0; c < setup->cpus; c++)
        heap_push((struct sim_event){ .at = sim.now + (uint64_t)(c + 1) * SIM_MS, .tid = c,
                                      .is = EVENT_TICK });
    if (setup->quota_ns)
        heap_push((struct sim_event){ .at = sim.now + SIM_QUOTA_PERIOD_NS, .is = EVENT_QUOTA });
    if (setup->halt_at)
        heap_push((struct sim_event){ .at = sim.now + setup->halt_at, .is = EVENT_HALT });
    sim.setup.halt_until += sim.now;
    static struct jsp_sleeper sleeper;
    sim.sleeper = setup->is_wall ? &sleeper : NULL;
    jsp_looker_open(&sim.looker);
    const struct jsp_looker_setup looks = { SIM_S / setup->hz, SIGPROF, sim.sleeper, &sim.ask };
    jsp_looker_begin(&sim.looker, &looks);
    sim.looker.tid = sim.self.tid;
    sim.looker.tick.random = sim.looker.random = sim.random;
    jsp_looker_awake(&sim.looker);
}

static struct sim_thread *thread_new(sim_script *script, bool is_other)
{
    struct sim_thread *t = calloc(1, sizeof *t);
    if (sim.n_threads == sim.room) {
        sim.room = sim.room ? 2 * sim.room : 16;
        sim.threads = realloc(sim.threads, sim.room * sizeof(struct sim_thread *));
    }
    sim.threads[sim.n_threads++] = t;
    t->script = script;
    t->is_other = is_other;
    t->only = -1;
    t->tid = ++n_tids;
    t->cpu = (int)sim_random((uint64_t)sim.setup.cpus);
    t->since = sim.now;
    t->step.does = SIM_RUN;
    t->is = SIM_READY;
    return t;
}

struct sim_thread *sim_other(sim_script *script)
{
    struct sim_thread *t = thread_new(script, true);
    enqueue(t, false);
    dispatch(t->cpu);
    return t;
}

struct sim_thread *sim_thread(sim_script *script)
{
    struct sim_thread *t = thread_new(script, false);
    struct jsp_sampled *s = t->sampled = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    memset(s, 0, sizeof *s);
    t->words = calloc(SIM_RING, sizeof *t->words);
    jsp_ring_init(&s->ring, t->words, SIM_RING);
    s->number = (uint64_t)t->tid;
    /* ORDER: relaxed, all. There is one real thread. */
    atomic_store_explicit(&s->is_looked, true, memory_order_relaxed);
    atomic_store_explicit(&s->armed, true, memory_order_relaxed); /* ORDER: as above */
    atomic_store_explicit(&s->due_ns, UINT64_MAX, memory_order_relaxed); /* ORDER: as above */
    s->ask = &sim.ask;
    t->looked = (struct jsp_looked){ .sampled = s, .tid = t->tid, .cpu_clock = -t->tid,
                                     .news = &t->news };
    jsp_looker_add(&sim.looker, &t->looked);
    enqueue(t, false);
    dispatch(t->cpu);
    return t;
}

struct sim_sum sim_close(void)
{
    account_all();
    while (sim.n_threads)
        leave(sim.threads[0]);
    check_all();
    struct sim_sum *s = &sim.gone;
    for (int f = 0; f < SIM_FUNCTIONS; f++) {
        s->all_ns += s->true_ns[f];
        s->all_got += s->got[f];
        s->all_squares += s->squares[f];
    }
    s->n_looks = sim.n_looks;
    s->n_bad = sim.n_bad;
    return *s;
}

double sim_truth(const struct sim_sum *s, uint32_t function)
{
    return 100.0 * (double)s->true_ns[function] / (double)s->all_ns;
}

double sim_share(const struct sim_sum *s, uint32_t function)
{
    return 100.0 * (double)s->got[function] / (double)s->all_got;
}

double sim_chance(const struct sim_sum *s, uint32_t function)
{
    double p = sim_truth(s, function) / 100;
    return 442 * sqrt(p * (1 - p) * (double)s->all_squares) / (double)s->all_got;
}
