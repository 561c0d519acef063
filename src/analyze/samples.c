/* analyze/samples.c - an iterator over samples, with all data of each.
 *
 * SPDX-License-Identifier: MIT
 */
#include "samples.h"

#include "capture/taskfile.h"
#include "work.h"

/* The largest sum of all samples in ns, such that two sums can be added. */
static const uint64_t samples_most = UINT64_C(1) << 62;

void jsp_samples_start(struct jsp_samples *s, const struct jsp_profile *p,
                       struct jsp_read_defects *defects)
{
    memset(s, 0, sizeof *s);
    s->profile = p;
    s->cpu_left = samples_most;
    s->weight_left = samples_most / (p->period_ns ? p->period_ns : 1);
    jsp_read_start(&s->body, p->capture, defects);
    s->is_bytes = jsp_unit_is_bytes(p->unit);
    if (s->is_bytes)
        s->weight_left = samples_most;
    jsp_weights_start(s->is_bytes ? &p->work->allocations : &p->work->weights, &s->weights);
    jsp_weights_start(&p->state_file.blocks, &s->states);
    jsp_weights_start(&p->work->running, &s->tasks);
    jsp_weights_start(&p->labels.blocks, &s->labels);
}

/* Limit a capture that claims more time than is possible: drop the weight that exceeds
 * it. */
static void samples_limit(struct jsp_samples *s, const struct jsp_read_frame *f,
                          struct jsp_weight *w)
{
    if (w->weight <= s->weight_left && w->cpu_ns <= s->cpu_left) {
        s->weight_left -= w->weight;
        s->cpu_left -= w->cpu_ns;
        return;
    }
    jsp_read_count(s->body.defects, JSP_READ_SUM, f->offset);
    w->weight = 1;
    w->cpu_ns = 0;
    w->known = false;
}

/* The samples of a continuous recording on the CPU clock do not say how much CPU time they
 * represent: it is a period for each expiration. */
static bool samples_is_folded(const struct jsp_profile *p)
{
    return p->fold_ns && p->driver && p->driver->clock == JSP_CLOCK_CPU;
}

/* Read the body and the weight of an allocation. */
static bool samples_allocation(struct jsp_samples *s, const struct jsp_read_frame *f,
                               struct jsp_sample *out)
{
    const struct jsp_profile *p = s->profile;
    struct jsp_weight *w = &out->weight;
    struct jsp_read_allocation a;
    jsp_weights_get(&p->work->allocations, &s->weights, out->ordinal, w);
    if (!jsp_read_allocation(&s->body, f, &a) ||
        (p->unit == JSP_VALUE_LIVE && !jsp_heap_is_live(&p->heap, out->ordinal)))
        return false;
    out->body = a.at;
    out->bytes = (uint64_t)a.size;
    if (out->bytes > s->weight_left) {
        jsp_read_count(s->body.defects, JSP_READ_SUM, f->offset);
        out->bytes = 1;
    } else {
        s->weight_left -= out->bytes;
    }
    out->labels = w->known ? w->cpu_ns : 0;
    uint64_t own = w->known && w->weight ? w->weight : out->bytes;
    w->weight = own < out->bytes ? (out->bytes + own / 2) / own : 1;
    w->cpu_ns = 0;
    return true;
}

/* Read the task of a sample from jsprof/running. */
static void samples_task(struct jsp_samples *s, struct jsp_sample *out)
{
    const struct jsp_weights *running = &s->profile->work->running;
    const struct jsp_weights_block *b = jsp_weights_at(running, &s->tasks, out->ordinal);
    if (!b)
        return;
    if (out->ordinal == b->first)
        s->task = 0;
    jsp_running_get(&s->tasks.at, b->end, &s->task, &out->task); /* was checked when added */
    jsp_weights_step(running, &s->tasks);
}

bool jsp_samples_take(struct jsp_samples *s, const struct jsp_read_frame *f,
                      struct jsp_sample *out)
{
    const struct jsp_profile_work *w = s->profile->work;
    while (s->epoch < w->n_epochs && w->epochs[s->epoch] <= s->ordinal)
        s->epoch++;
    out->epoch = s->epoch;
    out->ordinal = s->ordinal++;
    out->bytes = 0;
    out->ref = 0;
    out->state = (struct jsp_read_state){ 0 };
    out->task = out->labels = 0;
    if (s->is_bytes)
        return samples_allocation(s, f, out);
    jsp_weights_get(&w->weights, &s->weights, out->ordinal, &out->weight);
    jsp_states_get(&s->profile->state_file, &s->states, out->ordinal, &out->state);
    samples_task(s, out);
    jsp_labels_get(&s->profile->labels, &s->labels, out->ordinal, &s->label, &out->labels);
    out->ref = f->packed.node ? f->packed.ref : 0;
    if (out->ref) {
        out->state = f->packed.state;
        out->task = f->packed.task;
        out->labels = f->packed.labels;
        out->weight = (struct jsp_weight){ .weight = f->packed.weight,
                                           .cpu_ns = f->packed.cpu_ns,
                                           .known = f->packed.known,
                                           .cut = f->packed.cut };
    }
    samples_limit(s, f, &out->weight);
    if (samples_is_folded(s->profile) && !out->weight.cpu_ns)
        out->weight.cpu_ns = out->weight.weight * s->profile->period_ns;
    if (!jsp_read_sample(&s->body, f, &out->body))
        return false;
    if (w->relayed.n)
        jsp_relayed_restore(&s->profile->work->relayed, &s->profile->lookup, f, &out->body);
    return true;
}

struct jsp_read_text jsp_samples_detail(const struct jsp_profile *p, const struct jsp_sample *s,
                                        int32_t pid)
{
    struct jsp_lookup_key what = { JSP_WIRE_JIT_TAG | s->state.name, pid, s->epoch };
    const struct jsp_lookup_jit *name = s->state.name ? jsp_lookup_jit(&p->lookup, what) : NULL;
    if (name)
        return name->name;
    return s->state.call ? jsp_states_name(&p->state_file, s->state.call - 1, pid)
                         : (struct jsp_read_text){ "", 0 };
}

int jsp_samples_labels(struct jsp_profile *p, const struct jsp_sample *s, int32_t pid,
                       uint32_t *set)
{
    const struct jsp_label_sample of = { pid, s->labels, s->task };
    return jsp_labels_of_sample(&p->labels, &of, set);
}

bool jsp_samples_end_epoch(const struct jsp_samples *s)
{
    const struct jsp_profile_work *w = s->profile->work;
    return s->epoch < w->n_epochs && w->epochs[s->epoch] == s->ordinal;
}
