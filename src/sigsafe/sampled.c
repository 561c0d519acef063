/* sigsafe/sampled.c - one thread of one session, apart from its handler. See sample.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hidden.h"
#include "sample.h"

enum { SAMPLED_TRIES = 64, SAMPLED_PUSHES = 1000 };

static _Thread_local struct jsp_sampled *volatile sampled_list;

void jsp_counts_add(struct jsp_counts *sum, const struct jsp_counts *c)
{
    sum->expirations += c->expirations;
    for (int cause = 0; cause < JSP_N_LOSSES; cause++)
        sum->lost[cause] += c->lost[cause];
    sum->frames_cut += c->frames_cut;
    sum->frames_bad += c->frames_bad;
    sum->labels_cut += c->labels_cut;
    sum->underflows += c->underflows;
    sum->handler_ns += c->handler_ns;
    sum->alloc_bytes += c->alloc_bytes;
    sum->alloc_lost += c->alloc_lost;
    sum->alloc_untold += c->alloc_untold;
    sum->tags.full += c->tags.full;
    sum->tags.cut += c->tags.cut;
    sum->tags.foreign += c->tags.foreign;
    sum->tags.unmatched += c->tags.unmatched;
    for (int stop = 0; stop < JSP_N_STOPS; stop++)
        sum->stops[stop] += c->stops[stop];
}

void jsp_counts_subtract(struct jsp_counts *sum, const struct jsp_counts *c)
{
    sum->expirations -= c->expirations;
    for (int cause = 0; cause < JSP_N_LOSSES; cause++)
        sum->lost[cause] -= c->lost[cause];
    sum->frames_cut -= c->frames_cut;
    sum->frames_bad -= c->frames_bad;
    sum->labels_cut -= c->labels_cut;
    sum->underflows -= c->underflows;
    sum->handler_ns -= c->handler_ns;
    sum->alloc_bytes -= c->alloc_bytes;
    sum->alloc_lost -= c->alloc_lost;
    sum->alloc_untold -= c->alloc_untold;
    sum->tags.full -= c->tags.full;
    sum->tags.cut -= c->tags.cut;
    sum->tags.foreign -= c->tags.foreign;
    sum->tags.unmatched -= c->tags.unmatched;
    for (int stop = 0; stop < JSP_N_STOPS; stop++)
        sum->stops[stop] -= c->stops[stop];
}

void jsp_sampled_link(struct jsp_sampled *self)
{
    self->next = sampled_list;
    /* ORDER: signal fence only. The reader is this thread's own handler. */
    atomic_signal_fence(memory_order_release); /* ORDER: as above */
    sampled_list = self;
}

void jsp_sampled_unlink(struct jsp_sampled *self)
{
    if (sampled_list == self) {
        sampled_list = self->next;
        return;
    }
    for (struct jsp_sampled *s = sampled_list; s; s = s->next)
        if (s->next == self)
            s->next = self->next;
}

struct jsp_sampled *jsp_sampled_find(const void *session)
{
    struct jsp_sampled *s = sampled_list;
    while (s && s->session != session)
        s = s->next;
    return s;
}

bool jsp_sampled_is_linked(const struct jsp_sampled *self)
{
    const struct jsp_sampled *s = sampled_list;
    while (s && s != self)
        s = s->next;
    return s;
}

struct jsp_sampled *jsp_sampled_first(void)
{
    return sampled_list;
}

void jsp_sampled_pause(struct jsp_sampled *self, int by)
{
    /* ORDER: signal fences only. This thread's own handler, which reads what the host
     * changes in between, must see the pause around it. */
    atomic_signal_fence(memory_order_seq_cst); /* ORDER: as above */
    if (by > 0 || self->paused)
        self->paused = self->paused + (uint32_t)by;
    atomic_signal_fence(memory_order_seq_cst); /* ORDER: as above */
}

void jsp_sampled_wait_begin(struct jsp_sampled *self, const char *what)
{
    if (!jsp_sampled_is_linked(self))
        return;
    if (!self->waits)
        self->waits_for = what;
    /* ORDER: signal fence only. This thread's own handler must see the name of a wait. */
    atomic_signal_fence(memory_order_release);
    self->waits = self->waits + 1;
}

void jsp_sampled_wait_end(struct jsp_sampled *self)
{
    if (!jsp_sampled_is_linked(self) || !self->waits)
        return;
    self->waits = self->waits - 1;
    /* ORDER: signal fence only. The host may change the name from now on. */
    atomic_signal_fence(memory_order_seq_cst);
}

/* The looker reads the name of a thread that may wake up and free it meanwhile. */
static bool sampled_has_text(const struct jsp_sampled *self, const char *what)
{
    const struct jsp_names_foreign *foreign = self->names.foreign;
    char first;
    if (!what || !foreign)
        return what && *what;
    return jsp_memread_bytes(foreign->mem, (uintptr_t)what, &first, 1) && first;
}

void jsp_sampled_note_wait(struct jsp_sampled *self)
{
    struct jsp_rec_state *state = &self->record->state;
    *state = (struct jsp_rec_state){ 0 };
    if (!self->waits)
        return;
    /* ORDER: signal fence only, pairs with the one in wait_begin. */
    atomic_signal_fence(memory_order_acquire);
    const jsprof_frame name = { .label = self->waits_for, .kind = JSPROF_KIND_LABEL };
    state->state = JSP_STATE_HOST;
    if (sampled_has_text(self, name.label))
        state->what = jsp_names_of(&self->names, &name);
}

uint64_t jsp_sampled_expect(struct jsp_sampled *self, uint64_t now_ns, uint64_t load)
{
    uint64_t at = jsp_tick_next(&self->tick, now_ns, load);
    /* ORDER: relaxed. Threads that look from outside take it as a hint. */
    atomic_store_explicit(&self->due_ns, at, memory_order_relaxed);
    return at;
}

uint32_t jsp_sampled_take_owed(struct jsp_sampled *self)
{
    self->delay.is_set = false;
    /* ORDER: relaxed. The exchange below publishes it: the looker, which reads the 0 of
     * `owed`, stores its own time afterwards. */
    atomic_store_explicit(&self->owed_ns, UINT64_MAX, memory_order_relaxed);
    /* L1. ORDER: acq_rel, pairs with the looker's acquire load and its release add of
     * `owed`. */
    uint64_t owed = atomic_exchange_explicit(&self->owed, 0, memory_order_acq_rel);
    return owed < UINT32_MAX ? (uint32_t)owed : UINT32_MAX;
}

/* Return the bytes that the thread has reported as allocated. */
static uint64_t sampled_bytes(const struct jsp_sampled *self)
{
    /* ORDER: relaxed. A statistic. */
    int64_t left = __atomic_load_n(&self->own.alloc_left, __ATOMIC_RELAXED);
    return jsp_counted(&self->alloc.drawn) - (uint64_t)left;
}

bool jsp_sampled_counts(struct jsp_sampled *self, struct jsp_counts *out)
{
    for (int i = 0; i < SAMPLED_TRIES; i++) {
        /* ORDER: acquire, pairs with S2 in sample.c. The counters are those of a finished
         * sample. */
        uint32_t before = atomic_load_explicit(&self->seq, memory_order_acquire);
        if (before & 1)
            continue;
        struct jsp_counts c = {
            .expirations = jsp_counted(&self->expirations),
            .frames_cut = jsp_counted(&self->vm.n_cut),
            .frames_bad = jsp_counted(&self->vm.n_bad) + jsp_counted(&self->names.n_bad),
            .labels_cut = jsp_counted(&self->names.n_cut),
            /* ORDER: relaxed. A statistic. */
            .underflows = __atomic_load_n(&self->own.underflows, __ATOMIC_RELAXED),
            .handler_ns = jsp_counted(&self->handler_ns),
            .alloc_bytes = sampled_bytes(self),
            .alloc_lost = jsp_counted(&self->alloc.n_lost),
            .alloc_untold = jsp_counted(&self->alloc.n_untold),
            .due_ns = jsp_sampled_due_ns(self),
            /* ORDER: acquire, pairs with the ring's R2, for a caller that pops up to
             * here. */
            .ring_tail = atomic_load_explicit(&self->ring.tail, memory_order_acquire),
        };
        jsp_tags_counts(&self->tags, &c.tags);
        for (int cause = 0; cause < JSP_N_LOSSES; cause++)
            c.lost[cause] = jsp_counted(&self->lost[cause]);
        for (int stop = 0; stop < JSP_N_STOPS; stop++)
            c.stops[stop] = jsp_counted(&self->unwinder.stops[stop]);
        /* ORDER: acquire fence: the loads above stay before the second load of seq. */
        atomic_thread_fence(memory_order_acquire); /* ORDER: as above */
        /* ORDER: relaxed, after the fence. If seq is unchanged, no sample began in
         * between. */
        if (atomic_load_explicit(&self->seq, memory_order_relaxed) == before) {
            *out = c;
            return true;
        }
    }
    return false;
}

/* Push the record, or count it as one that `loss` counts. */
static enum jsp_put sampled_append(struct jsp_sampled *self, struct jsp_record *record,
                                   uint64_t ran_ns, _Atomic uint64_t *loss)
{
    uint32_t n_words = jsp_record_size(record);
    jsp_count(&self->expirations, record->weight);
    self->last_ns[JSP_CLOCK_WALL] = record->time_ns;
    uint64_t last_ns = self->last_ns[JSP_CLOCK_CPU];
    record->cpu_ns = ran_ns > last_ns ? ran_ns - last_ns : 0;
    self->last_ns[JSP_CLOCK_CPU] = last_ns + record->cpu_ns;
    if (!loss &&
        jsp_ring_push(&self->ring, (const uint64_t *)(const void *)record, n_words)) {
        if (record->taker == JSP_TAKER_LOOKER)
            jsp_unwind_count(&self->unwinder, (enum jsp_unwind_stop)record->stop);
        return JSP_PUT_KEPT;
    }
    jsp_count(loss ? loss : &self->lost[JSP_LOST_RING], record->weight);
    return JSP_PUT_LOST;
}

/* The same, if no handler is inside or will begin. */
static enum jsp_put sampled_put(struct jsp_sampled *self, struct jsp_record *record,
                                uint64_t ran_ns, _Atomic uint64_t *loss, bool is_disarmed)
{
    /* L2. ORDER: acquire, both, pair with S2 in sample.c: a handler that took `owed` has left
     * before we see an even seq. The next one begins only after we owe something again. */
    if (atomic_load_explicit(&self->owed, memory_order_acquire))
        return JSP_PUT_BUSY;
    uint32_t seq = atomic_load_explicit(&self->seq, memory_order_acquire); /* ORDER: above */
    /* ORDER: seq_cst, before the load of `armed`; see S1 in sample.c. The handler of an event may
     * begin at the same time. */
    if (seq & 1 || !atomic_compare_exchange_strong_explicit(&self->seq, &seq, seq + 1,
                                                            memory_order_seq_cst, /* ORDER: above */
                                                            memory_order_relaxed)) /* ORDER: no */
        return JSP_PUT_BUSY;
    /* S1. ORDER: seq_cst, as in sample.c. */
    bool is_on = is_disarmed ||
                 atomic_load_explicit(&self->armed, memory_order_seq_cst); /* ORDER: above */
    /* B2. ORDER: seq_cst, after `seq`. The owner thread may be about to use the ring. */
    is_on = is_on && !atomic_load_explicit(&self->busy, memory_order_seq_cst);
    enum jsp_put put = is_on ? sampled_append(self, record, ran_ns, loss) : JSP_PUT_BUSY;
    /* S2. ORDER: release, as in sample.c. */
    atomic_store_explicit(&self->seq, seq + 2, memory_order_release);
    if (put == JSP_PUT_KEPT) /* a system call, perhaps: the owner waits for `seq` */
        jsp_ask_note(self->ask);
    return put;
}

enum jsp_put jsp_sampled_put(struct jsp_sampled *self, struct jsp_record *record,
                             uint64_t ran_ns, enum jsp_put_as as)
{
    return sampled_put(self, record, ran_ns,
                       as == JSP_PUT_PAUSED ? &self->lost[JSP_LOST_PAUSED] : NULL,
                       as == JSP_PUT_DISARMED);
}

void jsp_sampled_ask(struct jsp_sampled *self, uint64_t due_ns)
{
    self->offer_ns[JSP_CLOCK_CPU] = due_ns;
    /* L3. ORDER: release, pairs with the acquire of the handler that sees that it was asked. */
    atomic_store_explicit(&self->offer, JSP_OFFER_ASKED, memory_order_release);
}

enum jsp_offer jsp_sampled_offer(const struct jsp_sampled *self)
{
    /* ORDER: acquire, pairs with the handler's release: the offer is seen. */
    return (enum jsp_offer)atomic_load_explicit(&self->offer, memory_order_acquire);
}

bool jsp_sampled_unask(struct jsp_sampled *self)
{
    uint32_t offer = JSP_OFFER_ASKED;
    /* ORDER: acquire, both, as above. */
    return atomic_compare_exchange_strong_explicit(&self->offer, &offer, JSP_OFFER_NONE,
                                                   memory_order_acquire, /* ORDER: as above */
                                                   memory_order_acquire) || /* ORDER: as above */
           offer == JSP_OFFER_NONE;
}

enum jsp_put jsp_sampled_accept(struct jsp_sampled *self, uint32_t weight, enum jsp_put_as as)
{
    struct jsp_record same = { .time_ns = self->offer_ns[JSP_CLOCK_WALL], .weight = weight,
                               .taker = JSP_TAKER_AGAIN };
    enum jsp_put put = JSP_PUT_LOST;
    if (weight)
        put = sampled_put(self, &same, self->offer_ns[JSP_CLOCK_CPU], self->offer_loss,
                          as == JSP_PUT_DISARMED);
    if (put != JSP_PUT_BUSY)
        /* ORDER: relaxed. The handler touches it only if it was asked. */
        atomic_store_explicit(&self->offer, JSP_OFFER_NONE, memory_order_relaxed);
    return put;
}

/* The looker makes `seq` odd, too. It has a record of its own. */
bool jsp_sampled_enter(struct jsp_sampled *self)
{
    /* ORDER: relaxed, both. Only this thread stores them. */
    if (atomic_load_explicit(&self->is_inside, memory_order_relaxed) ||
        atomic_load_explicit(&self->busy, memory_order_relaxed)) /* ORDER: as above */
        return false;
    /* ORDER: seq_cst, before the load of `closed`; see B1 in backtrace.c. */
    atomic_store_explicit(&self->busy, true, memory_order_seq_cst);
    /* our own timer may fire meanwhile: the handler counts it */
    jsp_sampled_pause(self, 1);
    return true;
}

bool jsp_sampled_push(struct jsp_sampled *self, const struct jsp_record *record)
{
    for (int i = 0; i < SAMPLED_PUSHES; i++)
        /* B2. ORDER: seq_cst, after `busy`. The looker, if it is inside, has the ring for a
         * moment. */
        if (!(atomic_load_explicit(&self->seq, memory_order_seq_cst) & 1))
            return jsp_ring_push(&self->ring, (const uint64_t *)(const void *)record,
                                 jsp_record_size(record));
    return false;
}

void jsp_sampled_exit(struct jsp_sampled *self)
{
    jsp_sampled_pause(self, -1);
    /* ORDER: release: all reads of the session are done before. */
    atomic_store_explicit(&self->busy, false, memory_order_release);
}

struct jsp_seized jsp_sampled_seize(struct jsp_sampled *self)
{
    /* ORDER: relaxed, all. Only this thread stores them. */
    bool is_inside = atomic_load_explicit(&self->is_inside, memory_order_relaxed);
    bool busy = atomic_load_explicit(&self->busy, memory_order_relaxed); /* ORDER: as above */
    struct jsp_seized was = { is_inside, busy };
    /* ORDER: relaxed, as above. */
    atomic_store_explicit(&self->is_inside, false, memory_order_relaxed);
    atomic_store_explicit(&self->busy, false, memory_order_relaxed); /* ORDER: as above */
    return was;
}

void jsp_sampled_restore(struct jsp_sampled *self, struct jsp_seized was)
{
    /* ORDER: relaxed, both, as above. */
    atomic_store_explicit(&self->is_inside, was.is_inside, memory_order_relaxed);
    atomic_store_explicit(&self->busy, was.busy, memory_order_relaxed); /* ORDER: as above */
}

bool jsp_sampled_inside(const struct jsp_sampled *self)
{
    /* ORDER: seq_cst, after `armed` was cleared: see S1 in sample.c. */
    return atomic_load_explicit(&self->seq, memory_order_seq_cst) & 1;
}

bool jsp_sampled_busy(const struct jsp_sampled *self)
{
    /* ORDER: seq_cst, both, after `closed` was set: see B1 in backtrace.c. */
    return atomic_load_explicit(&self->busy, memory_order_seq_cst) ||
           atomic_load_explicit(&self->running.is_inside, memory_order_seq_cst); /* ORDER: above */
}
