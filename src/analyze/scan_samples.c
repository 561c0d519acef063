/* analyze/scan_samples.c - the second pass: counts samples, equal stacks together.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>

#include "chains.h"
#include "samples.h"
#include "work.h"
#include "capture/wire.h"

/* Samples are looked up in batches: their data lie all over the file, so every step
 * prefetches for the whole batch before the next step reads it. */
enum { SCAN_BATCH = 32, SCAN_LINE = 64, SCAN_LINES = 6 };

struct scan_one {
    struct jsp_sample sample;
    int64_t time;
    uint32_t thread, state, chain, labels, hash;
};

struct scan_state {
    struct jsp_profile *p;
    struct jsp_read_frame frame;
    uint32_t thread; /* of the previous sample */
    uint32_t n;
    struct scan_one batch[SCAN_BATCH];
};

static uint32_t scan_thread_hash(const struct jsp_profile *p, int32_t pid, int32_t tid)
{
    uint64_t both = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
    return (uint32_t)jsp_hash_mix(p->work->threads.seed, both);
}

const struct jsp_thread_info *jsp_profile_thread(const struct jsp_profile *p, int32_t pid,
                                                 int32_t tid)
{
    uint32_t hash = scan_thread_hash(p, pid, tid), probe = hash, at;
    while ((at = jsp_hash_next(&p->work->threads, hash, &probe)) != 0)
        if (p->threads[at - 1].pid == pid && p->threads[at - 1].tid == tid)
            return &p->threads[at - 1];
    return NULL;
}

/* Find or add the sample's thread. Most samples are on the same thread as the previous
 * one. */
static int scan_thread(struct scan_state *s, int32_t tid)
{
    struct jsp_profile *p = s->p;
    struct jsp_profile_work *w = p->work;
    int32_t pid = s->frame.pid;
    if (s->thread < p->n_threads && p->threads[s->thread].pid == pid &&
        p->threads[s->thread].tid == tid)
        return 0;
    const struct jsp_thread_info *known = jsp_profile_thread(p, pid, tid);
    if (known) {
        s->thread = (uint32_t)(known - p->threads);
        return 0;
    }
    if (jsp_grow(&p->threads, &w->threads_room, p->n_threads, sizeof *p->threads) < 0)
        return -ENOMEM;
    p->threads[p->n_threads] =
        (struct jsp_thread_info){ .pid = pid, .tid = tid, .first_time = s->frame.time };
    p->is_of_many |= pid != p->threads[0].pid;
    s->thread = p->n_threads++;
    return jsp_hash_add(&w->threads, scan_thread_hash(p, pid, tid), s->thread);
}

static uint32_t scan_state_hash(const struct jsp_profile *p, const struct jsp_profile_state *s)
{
    uint64_t h = jsp_hash_mix(p->work->states.seed, s->state);
    return (uint32_t)jsp_hash_bytes(h, s->detail.at, s->detail.len);
}

static bool scan_find_state(const struct jsp_profile *p, const struct jsp_profile_state *s,
                            uint32_t hash, uint32_t *out)
{
    uint32_t probe = hash, at;
    while ((at = jsp_hash_next(&p->work->states, hash, &probe)) != 0)
        if (p->states[at - 1].state == s->state &&
            jsp_read_equal(p->states[at - 1].detail, s->detail))
            break;
    *out = at - 1;
    return at != 0;
}

/* Find or add the state of a sample. */
static int scan_state(struct jsp_profile *p, const struct jsp_sample *sample, int32_t pid,
                      uint32_t *out)
{
    struct jsp_profile_work *w = p->work;
    if (!sample->state.state) {
        *out = 0;
        return 0;
    }
    const struct jsp_profile_state s = { sample->state.state,
                                         jsp_samples_detail(p, sample, pid) };
    uint32_t hash = scan_state_hash(p, &s);
    if (scan_find_state(p, &s, hash, out))
        return 0;
    if (jsp_grow(&p->states, &w->states_room, p->n_states, sizeof *p->states) < 0)
        return -ENOMEM;
    *out = p->n_states++;
    p->states[*out] = s;
    return jsp_hash_add(&w->states, hash, *out);
}

static bool scan_equal(const struct scan_one *o, const struct jsp_stack *k)
{
    const struct jsp_weight *w = &o->sample.weight;
    return k->thread == o->thread && k->state == o->state && k->chain == o->chain &&
           k->labels == o->labels &&
           k->n_addrs == o->sample.body.n_addrs && k->node == o->sample.body.node &&
           k->epoch == o->sample.epoch &&
           k->n_lines == w->n_lines && k->lines_bytes == w->lines_bytes &&
           (k->node ||
            memcmp(k->addrs, o->sample.body.addrs, 8 * (size_t)k->n_addrs) == 0) &&
           (k->n_lines == 0 || memcmp(k->lines, w->lines, k->lines_bytes) == 0);
}

static uint32_t scan_hash(const struct jsp_profile *p, const struct scan_one *o)
{
    const struct jsp_weight *w = &o->sample.weight;
    uint64_t h =
        jsp_hash_mix(p->work->stacks.seed, (uint64_t)o->thread << 32 | o->sample.epoch);
    if (o->state)
        h = jsp_hash_mix(h, o->state);
    if (o->chain)
        h = jsp_hash_mix(h, (uint64_t)o->chain << 32);
    if (o->labels)
        h = jsp_hash_mix(h, ~(uint64_t)o->labels);
    if (o->sample.body.node)
        return (uint32_t)(jsp_hash_mix(h, o->sample.body.node) >> 16);
    h = jsp_hash_words(h, o->sample.body.addrs, o->sample.body.n_addrs);
    if (w->lines_bytes)
        h = jsp_hash_bytes(h, w->lines, w->lines_bytes);
    return (uint32_t)(h >> 16);
}

static int scan_stack(struct jsp_profile *p, const struct scan_one *o,
                      struct jsp_stack **out)
{
    struct jsp_profile_work *w = p->work;
    uint32_t probe = o->hash, at;
    while ((at = jsp_hash_next(&w->stacks, o->hash, &probe)) != 0)
        if (scan_equal(o, &p->stacks[at - 1])) {
            *out = &p->stacks[at - 1];
            return 0;
        }
    if (jsp_grow(&p->stacks, &w->stacks_room, p->n_stacks, sizeof *p->stacks) < 0)
        return -ENOMEM;
    *out = &p->stacks[p->n_stacks];
    **out = (struct jsp_stack){ .addrs = o->sample.body.addrs,
                                .node = o->sample.body.node,
                                .lines = o->sample.weight.lines,
                                .lines_bytes = o->sample.weight.lines_bytes,
                                .epoch = o->sample.epoch,
                                .thread = o->thread,
                                .state = o->state,
                                .chain = o->chain,
                                .labels = o->labels,
                                .n_addrs = (uint16_t)o->sample.body.n_addrs,
                                .n_lines = (uint16_t)o->sample.weight.n_lines };
    return jsp_hash_add(&w->stacks, o->hash, p->n_stacks++);
}

/* The looker draws points of the elapsed time. Each one that meets a thread while it runs stands
 * for a period of its CPU time. The CPU time since the last one would not do: it is longer before
 * a point that comes late in its cell. */
static bool scan_has_points(const struct jsp_profile *p, const struct jsp_sample *sample)
{
    static const char looker[] = "looker";
    return strncmp(p->source, looker, sizeof looker - 1) == 0 &&
           (p->driver->clock == JSP_CLOCK_CPU || sample->state.state != JSP_STATE_UNKNOWN);
}

static uint64_t scan_cpu(const struct jsp_profile *p, const struct jsp_sample *sample)
{
    if (!scan_has_points(p, sample))
        return sample->weight.cpu_ns;
    bool ran = p->driver->clock == JSP_CLOCK_CPU || sample->state.state == JSP_STATE_RUNNING;
    return ran ? sample->weight.weight * p->period_ns : 0;
}

uint64_t jsp_scan_value(const struct jsp_profile *p, const struct jsp_sample *sample)
{
    const struct jsp_weight *w = &sample->weight;
    if (jsp_unit_is_bytes(p->unit))
        return sample->bytes;
    if (p->unit == JSP_VALUE_COUNT)
        return w->weight;
    if (p->unit == JSP_VALUE_CPU && w->known)
        return scan_cpu(p, sample);
    return w->weight * p->period_ns;
}

bool jsp_work_counts(const struct jsp_profile *p, const struct jsp_read_frame *f)
{
    return jsp_unit_is_bytes(p->work->options.measure) ? jsp_read_is_allocation(p->capture, f)
                                                       : f->type == JSP_WIRE_SAMPLE;
}

static int scan_account(struct jsp_profile *p, const struct scan_one *o,
                        struct jsp_stack *k)
{
    const struct jsp_profile_options *options = &p->work->options;
    const struct jsp_weight *w = &o->sample.weight;
    struct jsp_thread_info *t = &p->threads[o->thread];
    uint64_t value = jsp_scan_value(p, &o->sample);
    k->samples++;
    k->weight += w->weight;
    k->value += value;
    t->samples++;
    t->weight += w->weight;
    t->value += value;
    t->cpu_ns += w->cpu_ns;
    t->last_time = o->time;
    t->by_state[p->states[o->state].state] += w->weight;
    p->by_state[p->states[o->state].state] += w->weight;
    p->samples++;
    p->packed += o->sample.ref != 0;
    p->weight += w->weight;
    p->value += value;
    /* a folded sample is as certain as its samples */
    p->squares += (double)value * (double)value /
                  (double)(p->fold_ns && w->weight ? w->weight : 1);
    if (p->samples == 1)
        p->first_sample = o->time;
    p->last_sample = o->time;
    struct jsp_profile_sample written = { (uint32_t)(k - p->stacks), o->sample.ref,
                                       o->sample.ordinal, o->time, value };
    return options->sampled ? options->sampled(options->sampled_context, &written) : 0;
}

static void scan_fetch(const struct scan_state *s)
{
    const struct jsp_profile *p = s->p;
    const struct jsp_hash *t = &p->work->stacks;
    uint32_t at[SCAN_BATCH];
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t probe = s->batch[i].hash;
        at[i] = jsp_hash_next(t, s->batch[i].hash, &probe);
        if (at[i])
            __builtin_prefetch(&p->stacks[at[i] - 1], 1);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        const struct jsp_stack *k = at[i] ? &p->stacks[at[i] - 1] : NULL;
        if (k && k->lines)
            __builtin_prefetch(k->lines);
        for (int line = 0; k && k->addrs && line < SCAN_LINES; line++)
            __builtin_prefetch(k->addrs + SCAN_LINE * line);
    }
}

static int scan_flush(struct scan_state *s)
{
    struct jsp_stack *k;
    scan_fetch(s);
    for (uint32_t i = 0; i < s->n; i++) {
        int err = scan_stack(s->p, &s->batch[i], &k);
        if (err == 0)
            err = scan_account(s->p, &s->batch[i], k);
        if (err < 0)
            return err;
    }
    s->n = 0;
    return 0;
}

/* Set the chain of the sample's task. Return false if the profile is of other tasks. */
static bool scan_chain(const struct jsp_profile *p, const struct jsp_read_frame *f,
                       struct scan_one *o)
{
    o->chain = 0;
    return !p->chains || jsp_chains_take(p->chains, f, &o->sample, &o->chain);
}

/* Store the position of the set of labels. The sample of an allocation has no number of the task
 * that ran. */
static int scan_labels(struct jsp_profile *p, const struct jsp_read_frame *f, struct scan_one *o)
{
    const struct jsp_tasks *t = o->sample.bytes ? p->work->ran : NULL;
    uint32_t thread = t ? jsp_tasks_thread(t, f->pid, o->sample.body.tid) : JSP_TASK_NONE;
    uint32_t run = thread == JSP_TASK_NONE ? JSP_TASK_NONE : jsp_tasks_run_at(t, thread, f->time);
    if (run != JSP_TASK_NONE)
        o->sample.task = t->tasks[t->runs[run].task].number;
    return jsp_samples_labels(p, &o->sample, f->pid, &o->labels);
}

/* Do the same as scan_thread and scan_stack, without adding anything. */
bool jsp_scan_find(struct jsp_profile *p, const struct jsp_read_frame *f,
                   const struct jsp_sample *sample, uint32_t *stack)
{
    struct scan_one o = { .sample = *sample, .time = f->time };
    const struct jsp_hash *stacks = &p->work->stacks;
    const struct jsp_thread_info *thread = jsp_profile_thread(p, f->pid, sample->body.tid);
    uint32_t probe, at;
    if (!thread || !jsp_work_overlaps(p, f->time, f->time) || !scan_chain(p, f, &o))
        return false;
    struct jsp_profile_state state = { sample->state.state,
                                       jsp_samples_detail(p, sample, f->pid) };
    if (state.state && !scan_find_state(p, &state, scan_state_hash(p, &state), &o.state))
        return false;
    if (scan_labels(p, f, &o) < 0)
        return false; /* its set is known, so no memory is needed */
    o.thread = (uint32_t)(thread - p->threads);
    o.hash = probe = scan_hash(p, &o);
    while ((at = jsp_hash_next(stacks, o.hash, &probe)) != 0)
        if (scan_equal(&o, &p->stacks[at - 1]))
            break;
    *stack = at - 1;
    return at != 0;
}

int jsp_scan_samples(struct jsp_profile *p)
{
    struct scan_state s = { .p = p };
    const struct jsp_hash *stacks = &p->work->stacks;
    struct jsp_read_cursor walk;
    struct jsp_samples samples;
    int err = jsp_grow(&p->states, &p->work->states_room, 0, sizeof *p->states);
    if (err == 0)
        p->states[p->n_states++] = (struct jsp_profile_state){ JSP_STATE_UNKNOWN, { "", 0 } };
    /* The first pass counted defects of frames, this one counts those of sample
     * bodies. */
    jsp_read_start(&walk, p->capture, NULL);
    jsp_samples_start(&samples, p, &p->defects);
    while (err == 0 && jsp_read_next(&walk, &s.frame)) {
        struct scan_one *o = &s.batch[s.n];
        if (!jsp_work_counts(p, &s.frame) ||
            !jsp_samples_take(&samples, &s.frame, &o->sample) ||
            !jsp_work_overlaps(p, s.frame.time, s.frame.time) || !scan_chain(p, &s.frame, o))
            continue;
        err = scan_thread(&s, o->sample.body.tid);
        if (err == 0)
            err = scan_state(p, &o->sample, s.frame.pid, &o->state);
        if (err == 0)
            err = scan_labels(p, &s.frame, o);
        if (err < 0)
            break;
        o->thread = s.thread;
        o->time = s.frame.time;
        o->hash = scan_hash(p, o);
        __builtin_prefetch(&stacks->slots[o->hash & stacks->mask]);
        if (++s.n == SCAN_BATCH)
            err = scan_flush(&s);
        jsp_work_progress(p, p->capture->size / 2 + walk.offset / 2);
    }
    return err < 0 ? err : scan_flush(&s);
}
