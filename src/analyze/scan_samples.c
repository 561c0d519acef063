/* scan_samples.c - the second pass: samples, equal ones counted together.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>

#include "analyze/samples.h"
#include "analyze/work.h"
#include "capture/wire.h"

struct scan_state {
    struct jsp_profile *p;
    struct jsp_read_frame frame;
    struct jsp_sample sample;
    uint32_t thread;
};

/* Equal neighbours are the rule: most samples stay on the thread of the one before. */
static int scan_thread(struct scan_state *s)
{
    struct jsp_profile *p = s->p;
    struct jsp_profile_work *w = p->work;
    int32_t pid = s->frame.pid, tid = s->sample.body.tid;
    if (s->thread < p->n_threads && p->threads[s->thread].pid == pid &&
        p->threads[s->thread].tid == tid)
        return 0;
    uint64_t both = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
    uint32_t hash = (uint32_t)jsp_hash_mix(w->threads.seed, both), probe = hash, at;
    while ((at = jsp_table_next(&w->threads, hash, &probe)) != 0)
        if (p->threads[at - 1].pid == pid && p->threads[at - 1].tid == tid) {
            s->thread = at - 1;
            return 0;
        }
    struct jsp_thread_info *more =
        jsp_grow(p->threads, &w->threads_room, p->n_threads, sizeof *more);
    if (!more)
        return -ENOMEM;
    p->threads = more;
    more[p->n_threads] = (struct jsp_thread_info){ .pid = pid, .tid = tid,
                                                   .first_time = s->frame.time };
    s->thread = p->n_threads++;
    return jsp_table_add(&w->threads, hash, s->thread);
}

static bool scan_equal(const struct scan_state *s, const struct jsp_stack *k)
{
    return k->thread == s->thread && k->n_addrs == s->sample.body.n_addrs &&
           k->epoch == s->sample.epoch && k->n_lines == s->sample.weight.n_lines &&
           k->lines_bytes == s->sample.weight.lines_bytes && k->is_cut == (s->sample.weight.cut != 0) &&
           memcmp(k->addrs, s->sample.body.addrs, 8 * (size_t)k->n_addrs) == 0 &&
           (k->n_lines == 0 || memcmp(k->lines, s->sample.weight.lines, k->lines_bytes) == 0);
}

static uint32_t scan_hash(const struct scan_state *s)
{
    uint64_t h = s->p->work->stacks.seed;
    h = jsp_hash_mix(h, (uint64_t)s->thread << 32 | s->sample.epoch);
    h = jsp_hash_words(h, s->sample.body.addrs, s->sample.body.n_addrs);
    if (s->sample.weight.lines_bytes)
        h = jsp_hash_bytes(h, s->sample.weight.lines, s->sample.weight.lines_bytes);
    return (uint32_t)(h >> 16);
}

static int scan_stack(struct scan_state *s, struct jsp_stack **out)
{
    struct jsp_profile *p = s->p;
    struct jsp_profile_work *w = p->work;
    uint32_t hash = scan_hash(s), probe = hash, at;
    while ((at = jsp_table_next(&w->stacks, hash, &probe)) != 0)
        if (scan_equal(s, &p->stacks[at - 1])) {
            *out = &p->stacks[at - 1];
            return 0;
        }
    struct jsp_stack *more =
        jsp_grow(p->stacks, &w->stacks_room, p->n_stacks, sizeof *more);
    if (!more)
        return -ENOMEM;
    p->stacks = more;
    *out = &more[p->n_stacks];
    **out = (struct jsp_stack){ .addrs = s->sample.body.addrs,
                                .lines = s->sample.weight.lines,
                                .lines_bytes = s->sample.weight.lines_bytes,
                                .epoch = s->sample.epoch,
                                .thread = s->thread,
                                .n_addrs = (uint16_t)s->sample.body.n_addrs,
                                .n_lines = (uint16_t)s->sample.weight.n_lines,
                                .is_cut = s->sample.weight.cut != 0 };
    return jsp_table_add(&w->stacks, hash, p->n_stacks++);
}

static uint64_t scan_value(const struct scan_state *s)
{
    const struct jsp_profile *p = s->p;
    if (p->unit == JSP_VALUE_COUNT)
        return s->sample.weight.weight;
    if (p->unit == JSP_VALUE_CPU && s->sample.weight.known)
        return s->sample.weight.cpu_ns;
    return s->sample.weight.weight * p->period_ns;
}

static void scan_account(struct scan_state *s, struct jsp_stack *k)
{
    struct jsp_profile *p = s->p;
    struct jsp_thread_info *t = &p->threads[s->thread];
    uint64_t value = scan_value(s);
    k->samples++;
    k->weight += s->sample.weight.weight;
    k->value += value;
    t->samples++;
    t->weight += s->sample.weight.weight;
    t->value += value;
    t->cpu_ns += s->sample.weight.cpu_ns;
    t->last_time = s->frame.time;
    p->samples++;
    p->weight += s->sample.weight.weight;
    p->value += value;
    p->squares += (double)value * (double)value;
    if (p->samples == 1)
        p->first_sample = s->frame.time;
    p->last_sample = s->frame.time;
}

static int scan_sample(struct scan_state *s)
{
    struct jsp_stack *k;
    int err = scan_thread(s);
    if (err == 0)
        err = scan_stack(s, &k);
    if (err == 0)
        scan_account(s, k);
    return err;
}

int jsp_scan_samples(struct jsp_profile *p)
{
    struct scan_state s = { .p = p };
    struct jsp_read_cursor walk;
    struct jsp_samples samples;
    /* Frames were counted by the first pass, bodies of samples are by this one. */
    jsp_read_start(&walk, p->capture, NULL);
    jsp_samples_start(&samples, p, &p->defects);
    while (jsp_read_next(&walk, &s.frame)) {
        if (s.frame.type != JSP_WIRE_SAMPLE || !jsp_samples_take(&samples, &s.frame, &s.sample))
            continue;
        int err = scan_sample(&s);
        if (err < 0)
            return err;
        jsp_work_progress(p, p->capture->size / 2 + walk.offset / 2);
    }
    return 0;
}
