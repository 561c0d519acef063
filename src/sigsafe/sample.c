/* sigsafe/sample.c - the SIGPROF handler and the sample that it takes. See sample.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "again.h"
#include "delay.h"
#include "left.h"

/* The ucontext of the delivery that we are passing on, and the frame that does so. */
static _Thread_local const void *volatile sample_passing, *volatile sample_passer;
/* nesting depth of jsp_sample_mask */
static _Thread_local volatile uint32_t sample_masked;
struct jsp_sample_chain jsp_sample_chain[_NSIG];

/* Return true if this is a signal of a timer, or one of a looker, which looks like it. */
static bool sample_is_ours(const siginfo_t *info)
{
    uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
    return info->si_code == SI_TIMER &&
           (value ^ jsp_sample_mark()) >> JSP_SAMPLE_NUMBER_BITS == 0;
}

/* Return what a timer would have counted as overrun: the looker sent this signal when it was
 * due, and since then it waited; or 0: somebody else took the one that was due, and this is
 * a later try. */
static uint32_t sample_waited(const siginfo_t *info, uint64_t due_ns)
{
    uint64_t sent_ns = jsp_sample_sent_ns(info);
    bool is_first = sent_ns < due_ns || sent_ns - due_ns < JSP_HIDDEN_AGAIN_NS;
    return is_first ? UINT32_MAX : 0;
}

/* Return the thread's CPU clock. The looker has just read it before it sent a signal that comes in
 * time. To read it here is a system call, while what it returns differs by 50 us. */
static uint64_t sample_ran(const struct jsp_sampled *self, bool is_sent, uint64_t late_ns)
{
    uint64_t last_ns = self->last_ns[JSP_CLOCK_CPU];
    if (!is_sent || late_ns >= JSP_HIDDEN_PROMPT_NS)
        return jsp_now_ns(CLOCK_THREAD_CPUTIME_ID);
    return self->told_ran_ns > last_ns ? self->told_ran_ns : last_ns;
}

/* Describe the arrival of a signal of the looker's, or of a timer on `clock` that was due at this
 * time. (By pointer: gcc reserves the stack of a value that is returned twice.) */
static void sample_arrival(struct jsp_arrival *a, const struct jsp_sampled *self,
                           const siginfo_t *info, bool is_sent, uint64_t due_ns)
{
    /* the looker looks at elapsed time, whatever clock it counts */
    a->clock = is_sent ? JSP_CLOCK_WALL : self->clock;
    a->due_ns = due_ns;
    a->overrun = is_sent                     ? sample_waited(info, a->due_ns)
                 : info->si_code == SI_TIMER ? (uint32_t)info->si_overrun
                                             : UINT32_MAX; /* the event's, which go on */
    a->now_ns[JSP_CLOCK_WALL] = jsp_now_ns(CLOCK_MONOTONIC);
    a->now_ns[JSP_CLOCK_CPU] = sample_ran(self, is_sent, a->now_ns[JSP_CLOCK_WALL] - a->due_ns);
    uint64_t now = a->now_ns[a->clock];
    a->late_ns = now > a->due_ns ? now - a->due_ns : 0;
    a->ran_ns = a->now_ns[JSP_CLOCK_CPU] - self->last_ns[JSP_CLOCK_CPU];
    a->took_ns = a->now_ns[JSP_CLOCK_WALL] - self->last_ns[JSP_CLOCK_WALL];
}

void jsp_sample_mask(int by)
{
    /* ORDER: signal fences only. The reader is this thread's own handler. */
    atomic_signal_fence(memory_order_seq_cst); /* ORDER: as above */
    sample_masked = sample_masked + (uint32_t)by;
    atomic_signal_fence(memory_order_seq_cst); /* ORDER: as above */
}

/* Return true if the signal was withheld since it was due: the session noticed that, or
 * jsp_hidden finds a trace of it. */
static bool sample_was_hidden(struct jsp_sampled *self, const struct jsp_arrival *a)
{
    if (sample_masked)
        return false;
    return jsp_counted(&self->hidden_ns) == a->due_ns ||
           jsp_hidden(&self->unwinder.mem, a);
}

/* Return the part of a withheld time that is left to the next arrival. On the CPU clock a
 * tick reports the time before it; the next tick will report the time after the last one.
 * So the account charges as much too late at the end of a blocked time as it charged too
 * early at its beginning. */
static uint64_t sample_left(const struct jsp_arrival *a)
{
    if (a->clock == JSP_CLOCK_WALL)
        return 0;
    uint64_t now_ns = a->now_ns[JSP_CLOCK_WALL], tick_ns = jsp_now_ns(CLOCK_MONOTONIC_COARSE);
    uint64_t since = now_ns > tick_ns ? now_ns - tick_ns : 0;
    return since < a->late_ns ? since : a->late_ns;
}

/* Return the counter of the reason why this expiration gets no sample, or NULL if it gets
 * one. */
static _Atomic uint64_t *sample_loss(struct jsp_sampled *self, ptrdiff_t room, bool hidden)
{
    if (self->paused)
        return &self->lost[JSP_LOST_PAUSED];
    if (hidden)
        return &self->lost[JSP_LOST_BLOCKED];
    return room < jsp_stack_need(self) ? &self->lost[JSP_LOST_STACK] : NULL;
}

/* Note in the record what the thread was doing. */
static void sample_note(struct jsp_sampled *self)
{
    jsp_sampled_note_wait(self);
    self->record->waited = self->met_waited;
    if (!self->record->state.state)
        self->record->state = self->met;
}

/* Push the stack of this moment into the ring. Return false if there is no room. */
static __attribute__((noinline)) bool sample_keep(struct jsp_sampled *self,
                                                  const void *ucontext)
{
    struct jsp_where where = { ucontext, jsp_regs_sp(ucontext),
                               &((const ucontext_t *)ucontext)->uc_stack, false };
    self->record->task = jsp_running_now(&self->running);
    sample_note(self);
    jsp_sampled_frames(self, &where, NULL);
    self->record->n_tags = 0;
    if (jsp_tags_any(&self->tags))
        self->record->n_tags = (uint16_t)jsp_tags_take(&self->tags, &self->unwinder.mem,
                                                       jsp_record_tags(self->record));
    uint32_t n_words = jsp_record_size(self->record);
    bool is_kept = jsp_ring_push(&self->ring, (const uint64_t *)(const void *)self->record,
                                 n_words);
    jsp_ask_note(self->ask);
    return is_kept;
}

/* Return the share of this thread's time that other sessions' samples take, of
 * JSP_TICK_WHOLE. */
static uint64_t sample_others(const struct jsp_sampled *self)
{
    uint64_t load = 0;
    for (const struct jsp_sampled *s = jsp_sampled_first(); s; s = s->next)
        /* ORDER: acquire, pairs with the arming, which set up the tick before. */
        if (s != self && atomic_load_explicit(&s->armed, memory_order_acquire))
            load += s->tick.load;
    return load;
}

/* Return the cost of the sample. If the elapsed time is long enough to delay the next
 * sample, take the CPU time if that is less: on a busy machine other threads had the
 * processor meanwhile, and that cost the host nothing. */
static uint64_t sample_cost(uint64_t enough, const struct jsp_arrival *a)
{
    uint64_t cost = jsp_now_ns(CLOCK_MONOTONIC) - a->now_ns[JSP_CLOCK_WALL];
    if (cost < enough)
        return cost;
    uint64_t cpu_cost = jsp_now_ns(CLOCK_THREAD_CPUTIME_ID) - a->now_ns[JSP_CLOCK_CPU];
    return cpu_cost < cost ? cpu_cost : cost;
}

/* Return true if the thread's own event has sent the signal, or the timer that takes its place. */
static bool sample_is_events(const struct jsp_sampled *self, const siginfo_t *info)
{
    return jsp_timer_sent(&self->timer, info) ||
           (self->timer.has_event && info->si_code == SI_TIMER &&
            info->si_value.sival_ptr == jsp_sample_value(self->number | JSP_SAMPLE_OWN));
}

/* Return true if the looker has sent the signal, and no timer or event of the thread's own. */
static bool sample_is_sent(const struct jsp_sampled *self, const siginfo_t *info)
{
    return jsp_sampled_is_looked(self) ||
           (self->timer.has_event && !sample_is_events(self, info));
}

/* Count a signal of a timer that was disarmed, unless its expiration was already
 * counted. */
static void sample_late(struct jsp_sampled *self, const siginfo_t *info)
{
    /* counted as owed; or a tick, which is no expiration */
    if (sample_is_sent(self, info) || (self->timer.is_user && info->si_code == SI_TIMER))
        return;
    /* ORDER: relaxed. The other writer stores it while it disarms the timer. */
    if (atomic_exchange_explicit(&self->settled, false, memory_order_relaxed))
        return;
    jsp_count(&self->expirations, 1);
    jsp_count(&self->lost[JSP_LOST_LATE], 1);
}

/* Return how the thread's own signal has found it. */
static enum jsp_timer_met sample_met(struct jsp_sampled *self, const siginfo_t *info,
                                     const void *ucontext)
{
    if (!jsp_timer_is_tick(&self->timer, info) || jsp_timer_lose(&self->timer))
        return JSP_TIMER_DUE;
    return jsp_regs_may_follow(jsp_regs_of(ucontext), JSP_CALL_ANY) ? JSP_TIMER_CALL
                                                                    : JSP_TIMER_CODE;
}

static bool sample_is_user(const struct jsp_sampled *self)
{
    return self->timer.is_user && self->timer.is_event;
}

/* Return the points of the thread's own timer or event. */
static uint32_t sample_own_points(struct jsp_sampled *self, enum jsp_timer_met met,
                                  uint64_t now_ns)
{
    bool is_user = sample_is_user(self);
    if (!is_user && (met == JSP_TIMER_CALL || met == JSP_TIMER_CODE))
        return 0; /* the event has its points */
    uint32_t passed = is_user ? jsp_tick_passed(&self->tick, now_ns)
                              : jsp_tick_weigh(&self->tick, now_ns);
    return jsp_timer_points(&self->timer, met, passed, self->tick.period_ns);
}

/* Return the weight of the sample: `points` of the thread's own timer or event, and those that the
 * looker has counted. */
static uint32_t sample_weigh(struct jsp_sampled *self, uint32_t points)
{
    self->met = (struct jsp_rec_state){ .state = self->is_observed ? JSP_STATE_RUNNING
                                                                   : JSP_STATE_UNKNOWN };
    self->met_waited = 0;
    self->met_awake = true;
    /* ORDER: acquire, pairs with the looker's release add: what it told is seen. */
    if (!atomic_load_explicit(&self->owed, memory_order_acquire))
        return points;
    self->met = self->told; /* before the looker may change it */
    /* if the sample was put off, the thread ran on then */
    self->met_awake = self->told_awake || self->delay.is_set;
    /* ORDER: relaxed. A part that comes without its expirations goes back. */
    uint64_t waited = atomic_exchange_explicit(&self->waited, 0, memory_order_relaxed);
    uint32_t weight = jsp_sampled_take_owed(self);
    self->met_waited = waited < weight ? (uint32_t)waited : weight;
    /* ORDER: relaxed, as above. */
    atomic_fetch_add_explicit(&self->waited, waited - self->met_waited, memory_order_relaxed);
    return points + weight;
}

/* Let the next sample come, under the load of all sessions. After a tick the event goes on. */
static void sample_next(struct jsp_sampled *self, uint64_t now_ns, uint64_t load, bool is_tick)
{
    struct jsp_timer *timer = &self->timer;
    jsp_timer_turn(timer, now_ns, self->is_observed);
    uint64_t at_ns = jsp_sampled_expect(self, now_ns, load);
    if (sample_is_user(self)) {
        /* ORDER: relaxed. A hint: without ticks since then, the signal is withheld. */
        atomic_store_explicit(&self->due_ns, timer->ticked_ns, memory_order_relaxed);
        if (is_tick)
            return;
        at_ns = jsp_timer_draw(timer, &self->tick, now_ns, load);
    }
    jsp_timer_set(timer, now_ns, at_ns);
}

/* Return true if the signal has ended a system call, which now returns EINTR to the host. */
static bool sample_has_cut(const struct jsp_sampled *self, const void *ucontext)
{
    const struct jsp_regs *regs = jsp_regs_of(ucontext);
    return (jsp_sampled_is_looked(self) || self->timer.has_event) &&
           jsp_regs_call(regs).result == (uint64_t)-EINTR &&
           jsp_regs_may_follow(regs, JSP_CALL_ANY);
}

/* Make that call again if possible. Count it. */
static void sample_mend(struct jsp_sampled *self, const struct jsp_arrival *a, void *ucontext,
                        ptrdiff_t room)
{
    bool is_again = self->met_awake && room >= JSP_STACK_NEED &&
                    jsp_again(&self->unwinder.mem, a, ucontext);
    jsp_count(is_again ? &self->n_again_calls : &self->n_cut_calls, 1);
}

/* The handler has taken up the looker's question: store what comes of it. */
static void sample_answer(struct jsp_sampled *self, enum jsp_offer offer)
{
    /* L3. ORDER: release, pairs with the looker's acquire: the offer is seen. */
    atomic_store_explicit(&self->offer, offer, memory_order_release);
}

/* Store the sample for which the looker has asked, without a weight. The tick has brought it. */
static void sample_offer(struct jsp_sampled *self, const struct jsp_arrival *a,
                         _Atomic uint64_t *loss)
{
    self->met = (struct jsp_rec_state){ 0 };
    self->met_waited = 0;
    self->met_awake = true;
    if (!loss) { /* else the record may be in use */
        self->record->time_ns = a->now_ns[JSP_CLOCK_WALL];
        self->record->cpu_ns = self->record->weight = 0;
        self->record->taker = JSP_TAKER_OFFER;
        if (!sample_keep(self, a->ucontext))
            loss = &self->lost[JSP_LOST_RING];
        self->record->taker = JSP_TAKER_HANDLER;
    }
    for (int clock = 0; clock < JSP_N_CLOCKS; clock++)
        self->offer_ns[clock] = a->now_ns[clock];
    self->offer_loss = loss;
    jsp_count(&self->handler_ns, jsp_now_ns(CLOCK_MONOTONIC) - a->now_ns[JSP_CLOCK_WALL]);
    sample_answer(self, JSP_OFFER_MADE);
}

/* Return true if the sample was put off, and this is not the signal that brings it: it is another
 * session's, or the looker has sent it again. */
static bool sample_is_early(const struct jsp_sampled *self, const siginfo_t *info,
                            const struct jsp_arrival *a)
{
    return self->delay.is_set && a->now_ns[JSP_CLOCK_WALL] < a->due_ns &&
           info->si_value.sival_ptr != jsp_sample_value(JSP_DELAY_NUMBER);
}

/* The sample comes later. What the looker knows of the thread holds for a system call that this
 * signal has interrupted, too. */
static void sample_put_off(struct jsp_sampled *self, const struct jsp_arrival *a)
{
    self->met_awake = self->told_awake;
    jsp_count(&self->handler_ns, jsp_now_ns(CLOCK_MONOTONIC) - a->now_ns[JSP_CLOCK_WALL]);
}

/* A tick has nothing to count. */
static void sample_idle(struct jsp_sampled *self, const struct jsp_arrival *a)
{
    self->met_awake = true;
    if (sample_is_user(self))
        /* ORDER: relaxed. A hint, as in sample_next. */
        atomic_store_explicit(&self->due_ns, self->timer.ticked_ns, memory_order_relaxed);
    jsp_count(&self->handler_ns, jsp_now_ns(CLOCK_MONOTONIC) - a->now_ns[JSP_CLOCK_WALL]);
}

/* What the thread's own signal brings. */
struct sample_own {
    uint32_t points;
    bool is_sent; /* it is the looker's */
    bool is_tick;
};

/* Store the sample with its weight, or count it. `left`: see sample_left. */
static void sample_count(struct jsp_sampled *self, const struct jsp_arrival *a,
                         _Atomic uint64_t *loss, uint64_t left, const struct sample_own *own)
{
    uint64_t now = a->now_ns[a->clock];
    uint32_t weight = sample_weigh(self, own->points);
    jsp_count(&self->expirations, weight);
    if (!loss) { /* else the record may be in use */
        self->record->time_ns = a->now_ns[JSP_CLOCK_WALL];
        self->record->cpu_ns = jsp_timer_cpu_ns(&self->timer, a->ran_ns,
                                                own->points * self->tick.period_ns);
        self->record->weight = weight;
        if (!sample_keep(self, a->ucontext))
            loss = &self->lost[JSP_LOST_RING];
    }
    if (loss)
        jsp_count(loss, weight);
    for (int clock = 0; clock < JSP_N_CLOCKS; clock++)
        self->last_ns[clock] = a->now_ns[clock] - left;
    /* Use the cost of the previous sample: the cost of this one is unknown until the
     * timer is set. */
    uint64_t others = sample_others(self);
    if (own->is_sent)
        /* ORDER: relaxed. The looker takes it as a hint. */
        atomic_store_explicit(&self->rest, (uint32_t)jsp_tick_over(others + self->tick.load),
                              memory_order_relaxed); /* ORDER: as above */
    else
        sample_next(self, now, others + self->tick.load, own->is_tick);
    uint64_t enough = others ? JSP_TICK_LEAST_NS : self->tick.period_ns / JSP_TICK_SHARE;
    uint64_t cost = sample_cost(enough, a);
    jsp_tick_spent(&self->tick, cost);
    jsp_count(&self->handler_ns, cost);
}

/* Take one sample, or count a loss. `room` is the stack that is left. `is_asked`: it is an offer.
 * Return false if the stack was not walked. */
static __attribute__((noinline)) bool sample_take(struct jsp_sampled *self,
                                                  const siginfo_t *info, void *ucontext,
                                                  ptrdiff_t room, bool is_asked)
{
    /* S1. ORDER: seq_cst, with `seq` set before it in sample_begin: a thread that clears
     * `armed` and then sees seq even knows that no sample will follow. */
    if (!atomic_load_explicit(&self->armed, memory_order_seq_cst)) {
        if (is_asked)
            sample_answer(self, JSP_OFFER_NONE);
        sample_late(self, info);
        return false;
    }
    bool is_sent = !is_asked && sample_is_sent(self, info);
    bool is_looked = is_sent && jsp_sampled_is_looked(self);
    uint64_t due_ns = is_asked  ? self->offer_ns[JSP_CLOCK_CPU]
                      : is_sent ? jsp_counted(&self->owed_ns)
                      : sample_is_user(self) ? self->timer.ticked_ns
                                             : self->tick.due_ns;
    enum jsp_timer_met met =
        is_sent || is_asked ? JSP_TIMER_DUE : sample_met(self, info, ucontext);
    struct sample_own own = { 0, is_sent, met != JSP_TIMER_DUE };
    struct jsp_arrival a = { .ucontext = ucontext, .signo = self->signo,
                             .handler = self->handler };
    sample_arrival(&a, self, info, is_sent, due_ns);
    if (is_asked) /* its timer fires once */
        a.overrun = UINT32_MAX;
    if (is_looked && sample_is_early(self, info, &a))
        return false;
    bool hidden = room >= JSP_STACK_NEED && sample_was_hidden(self, &a);
    _Atomic uint64_t *loss = sample_loss(self, room, hidden);
    /* What waited while the library blocked the signal, as around fork, belongs to this place. */
    bool is_later = is_looked && !loss && !sample_masked && jsp_delay_begin(self, &a);
    uint64_t left = hidden ? sample_left(&a) : 0;
    if (own.is_tick)
        self->timer.ticked_ns = a.now_ns[JSP_CLOCK_CPU];
    if (!is_sent && !is_asked)
        own.points = sample_own_points(self, hidden ? JSP_TIMER_HIDDEN : met,
                                       a.now_ns[a.clock] - left);
    bool is_idle = own.is_tick && !own.points;
    if (is_later)
        sample_put_off(self, &a);
    else if (is_asked)
        sample_offer(self, &a, loss);
    else if (is_idle)
        sample_idle(self, &a);
    else
        sample_count(self, &a, loss, left, &own);
    if (sample_has_cut(self, ucontext))
        sample_mend(self, &a, ucontext, room);
    return !loss && !is_asked && !is_later && !is_idle;
}

static struct jsp_sampled *sample_whose(const siginfo_t *info, bool *ours)
{
    bool is_timer = sample_is_ours(info);
    struct jsp_sampled *s = jsp_sampled_first();
    while (s && !(is_timer && jsp_sample_value(s->number) == info->si_value.sival_ptr) &&
           !sample_is_events(s, info))
        s = s->next;
    *ours = is_timer || s;
    return s;
}

static void sample_pass_to(const struct jsp_sample_owner *owner, int sig, siginfo_t *info,
                           void *ucontext)
{
    if (owner->action_sigsafe)
        owner->action_sigsafe(sig, info, ucontext);
    else if (owner->plain_sigsafe)
        owner->plain_sigsafe(sig);
}

/* Pass the signal on to the handler that was installed before us. That handler may itself
 * pass it on to us, if an earlier run put it on top of us. So one delivery goes round
 * once, and then to the handler that was below in that run. A handler that left by a jump
 * does not reset `sample_passing`; a later delivery may then have its context at the same
 * address, but our frame is no deeper than it was. */
static __attribute__((noinline)) void sample_pass_on(int sig, siginfo_t *info, void *ucontext)
{
    const struct jsp_sample_chain *chain = &jsp_sample_chain[sig];
    /* ORDER: relaxed. Nothing else is published by it. */
    if (atomic_load_explicit(&chain->is_reset, memory_order_relaxed))
        return;
    const void *outer = sample_passing, *outer_frame = sample_passer;
    const void *frame = __builtin_frame_address(0);
    if (ucontext == outer && (uintptr_t)frame < (uintptr_t)outer_frame) {
        sample_pass_to(&chain->below, sig, info, ucontext);
        return;
    }
    sample_passing = ucontext;
    sample_passer = frame;
    sample_pass_to(&chain->before, sig, info, ucontext);
    sample_passing = outer;
    sample_passer = outer_frame;
}

/* Return false if a sample is under way, into which, for instance, the handler of a fault
 * let the signal through, or if the looker stores one. That sample owns the record; the next one
 * counts this expiration by the clock. */
static bool sample_begin(struct jsp_sampled *self)
{
    /* ORDER: relaxed. Only this thread's handler stores it. */
    uint32_t seq = atomic_load_explicit(&self->seq, memory_order_relaxed);
    /* ORDER: seq_cst, before the load of `armed`; see S1. The looker may begin at the same time, if
     * the signal is of an event. */
    if (seq & 1 || !atomic_compare_exchange_strong_explicit(&self->seq, &seq, seq + 1,
                                                            memory_order_seq_cst, /* ORDER: above */
                                                            memory_order_relaxed)) /* ORDER: no */
        return false;
    /* ORDER: relaxed. Only this thread reads it. */
    atomic_store_explicit(&self->is_inside, true, memory_order_relaxed);
    return true;
}

static void sample_end(struct jsp_sampled *self)
{
    /* ORDER: relaxed, both. Only this thread's handler stores them now. */
    atomic_store_explicit(&self->is_inside, false, memory_order_relaxed);
    uint32_t seq = atomic_load_explicit(&self->seq, memory_order_relaxed); /* ORDER: as above */
    /* S2. ORDER: release: other threads see all writes before seq is even. */
    atomic_store_explicit(&self->seq, seq + 1, memory_order_release);
}

/* Count the expiration; the stack has no room for more. The timer's interval brings the
 * next signal. */
static void sample_lose(struct jsp_sampled *self, const siginfo_t *info, bool is_asked)
{
    if (is_asked) { /* nothing is counted yet */
        sample_answer(self, JSP_OFFER_NONE);
        return;
    }
    /* S1. ORDER: seq_cst, as in sample_take. */
    if (!atomic_load_explicit(&self->armed, memory_order_seq_cst)) {
        sample_late(self, info);
        return;
    }
    if (jsp_timer_is_tick(&self->timer, info) && !sample_is_sent(self, info))
        return; /* it is no expiration */
    uint32_t weight = 1;
    if (sample_is_sent(self, info))
        weight = jsp_sampled_take_owed(self);
    else
        self->tick.cell++; /* no later sample includes it */
    jsp_count(&self->expirations, weight);
    jsp_count(&self->lost[JSP_LOST_STACK], weight);
}

/* Return true if this signal is for the session: a timer's or an event's for its own one. A
 * looker's is for all sessions to which one is under way, because the kernel keeps one pending
 * signal of a number and drops others, also those of other sessions. Where none is under way, the
 * looker sent this one again, while the first one came after all; and it may be using `seq`. */
static bool sample_is_for(const struct jsp_sampled *self, const struct jsp_sampled *whose, int sig,
                          const siginfo_t *info)
{
    if (self == whose && !sample_is_sent(self, info))
        return true;
    /* ORDER: acquire, pairs with the looker's release add: its owed_ns is seen. */
    return self->signo == sig && atomic_load_explicit(&self->owed, memory_order_acquire);
}

/* Take up the question of the looker, if this is the signal of the thread's own timer. The looker
 * can not withdraw it any more, so it does not use `seq`; and it owes nothing meanwhile. */
static bool sample_takes_up(struct jsp_sampled *self, const struct jsp_sampled *whose)
{
    uint32_t asked = JSP_OFFER_ASKED;
    /* L3. ORDER: acquire, pairs with the looker's release: when the timer was due. */
    return self == whose && jsp_sampled_is_looked(self) &&
           atomic_compare_exchange_strong_explicit(&self->offer, &asked, JSP_OFFER_TAKEN,
                                                   memory_order_acquire, /* ORDER: as above */
                                                   memory_order_relaxed); /* ORDER: no */
}

/* The frame of this function, with all functions inlined here, must be small: the stack
 * may end right below. See JSP_STACK_ENTRY. */
void jsp_sample_handle(int sig, siginfo_t *info, void *ucontext)
{
    int saved_errno = errno; /* the interrupted code must not see ours */
    bool ours;
    const struct jsp_sampled *whose = sample_whose(info, &ours);

    for (struct jsp_sampled *self = jsp_sampled_first(); self; self = self->next) {
        bool is_asked = sample_takes_up(self, whose);
        if (!is_asked && !sample_is_for(self, whose, sig, info))
            continue;
        if (!sample_begin(self)) {
            if (is_asked)
                sample_answer(self, JSP_OFFER_NONE);
            continue;
        }
        ptrdiff_t room = jsp_stack_left(self, &((const ucontext_t *)ucontext)->uc_stack,
                                        jsp_regs_sp(ucontext),
                                        (uintptr_t)__builtin_frame_address(0));
        bool walked = false;
        if (room < JSP_STACK_COUNT)
            sample_lose(self, info, is_asked);
        else
            walked = sample_take(self, info, ucontext, room, is_asked);
        sample_end(self);
        if (walked && self->drain_sigsafe)
            self->drain_sigsafe(self, ucontext);
    }
    if (!ours)
        sample_pass_on(sig, info, ucontext);
    errno = saved_errno;
}
