/* samples.c - one sample after the other, with all the capture says of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/samples.h"

#include "analyze/work.h"

void jsp_samples_start(struct jsp_samples *s, const struct jsp_profile *p,
                       struct jsp_read_defects *defects)
{
    memset(s, 0, sizeof *s);
    s->profile = p;
    jsp_read_start(&s->body, p->capture, defects);
    jsp_weights_start(&p->work->weights, &s->weights);
}

bool jsp_samples_take(struct jsp_samples *s, const struct jsp_read_frame *f,
                      struct jsp_sample *out)
{
    const struct jsp_profile_work *w = s->profile->work;
    while (s->epoch < w->n_epochs && w->epochs[s->epoch] <= s->ordinal)
        s->epoch++;
    out->epoch = s->epoch;
    out->ordinal = s->ordinal++;
    jsp_weights_get(&w->weights, &s->weights, out->ordinal, &out->weight);
    out->ref = f->packed.node ? f->packed.ref : 0;
    if (out->ref)
        out->weight = (struct jsp_weight){ .weight = f->packed.weight,
                                           .cpu_ns = f->packed.cpu_ns,
                                           .known = f->packed.known,
                                           .cut = f->packed.cut };
    return jsp_read_sample(&s->body, f, &out->body);
}

bool jsp_samples_end_epoch(const struct jsp_samples *s)
{
    const struct jsp_profile_work *w = s->profile->work;
    return s->epoch < w->n_epochs && w->epochs[s->epoch] == s->ordinal;
}
