/* session/allocs.c - see allocs.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "allocs.h"

#include <errno.h>

#include "capture/embedded.h"

enum { ALLOCS_TERMS = 14 };

/* Return 1 - exp(-x) for x >= 0, without libm: by its series at a small x, then doubled. */
static double allocs_share(double x)
{
    double sum = 0, term = 1;
    int halves = 0;
    if (x > 50)
        return 1;
    for (; x > 0.25; x /= 2)
        halves++;
    for (int i = 1; i < ALLOCS_TERMS; i++) {
        term *= -x / i;
        sum -= term;
    }
    for (; halves > 0; halves--)
        sum *= 2 - sum;
    return sum;
}

uint64_t jsp_allocs_weight(uint64_t bytes, uint64_t every)
{
    double share = allocs_share((double)bytes / (double)every);
    return share > 0 ? (uint64_t)((double)bytes / share + 0.5) : bytes;
}

/* Add what the frame can not hold: the size, labels, the frames that are cut, and lines. */
static void allocs_beside(struct jsp_allocs *a, const struct jsp_allocs_sample *s)
{
    const struct jsp_merged *frames = s->frames->at;
    uint8_t *to = a->block + a->used;
    uint32_t n_lines = s->frames->n;
    while (n_lines && !frames[n_lines - 1].line)
        n_lines--;
    struct jsp_weight weight = { .weight = s->record->cpu_ns, .cpu_ns = s->labels,
                                 .n_lines = n_lines,
                                 .cut = (uint64_t)s->record->cut + s->frames->cut };
    to += jsp_embedded_weight_put(to, &weight);
    for (uint32_t i = 0; i < n_lines; i++)
        to += jsp_varint_put(to, frames[i].line);
    if (!a->count++)
        a->first = a->n;
    a->used = (uint32_t)(to - a->block);
}

int jsp_allocs_put(struct jsp_allocs *a, struct jsp_writer *w,
                   const struct jsp_allocs_sample *s)
{
    bool is_freed = !s->record->cpu_ns;
    struct jsp_writer_allocation allocation = {
        .sample = { s->record->time_ns, s->tid, s->addrs, is_freed ? 0 : s->frames->n },
        .number = s->record->number,
        .size = is_freed ? 0 : (int64_t)jsp_allocs_weight(s->record->cpu_ns, a->every),
    };
    uint32_t need = JSP_EMBEDDED_WEIGHT + allocation.sample.n_addrs * JSP_VARINT_MAX;
    if (a->used + need > sizeof a->block)
        jsp_allocs_write(a, w);
    if (a->used + need > sizeof a->block)
        return -ENOBUFS;
    int err = jsp_writer_allocation(w, &allocation);
    if (err || is_freed)
        return err;
    allocs_beside(a, s);
    a->n++;
    return 0;
}

void jsp_allocs_write(struct jsp_allocs *a, struct jsp_writer *w)
{
    struct jsp_writer_block block = { JSP_WIRE_FILE_ALLOCATIONS, a->first, a->count, a->block,
                                      a->used };
    if (a->count && jsp_writer_block(w, &block) == 0)
        a->count = a->used = 0;
}

void jsp_allocs_give_up(struct jsp_allocs *a, const struct jsp_writer *w)
{
    uint64_t waiting = jsp_writer_waiting(w, JSP_WIRE_ALLOCATION);
    a->n_lost += waiting;
    a->n -= waiting < a->n ? waiting : a->n;
}
