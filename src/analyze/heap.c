/* analyze/heap.c - the sampled allocations of a capture: how many, and which are live.
 *
 * SPDX-License-Identifier: MIT
 */
#include "heap.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

int jsp_heap_add(struct jsp_heap *h, const struct jsp_read *r, const struct jsp_read_frame *f)
{
    struct jsp_read_cursor quiet = { .capture = r };
    struct jsp_read_allocation a;
    bool is_allocated = jsp_read_is_allocation(r, f);
    uint64_t ordinal = h->n_allocated;
    h->n_allocated += is_allocated;
    if (!jsp_read_allocation(&quiet, f, &a))
        return 0;
    h->n_freed += !is_allocated;
    if (!h->is_live_wanted)
        return 0;
    if (h->n_events == UINT32_MAX || ordinal >= UINT32_MAX ||
        jsp_grow(&h->events, &h->room, h->n_events, sizeof *h->events) < 0)
        return -ENOMEM;
    h->events[h->n_events] = (struct jsp_heap_event){
        a.block, f->time, f->pid, h->n_events,
        is_allocated ? (uint32_t)ordinal : UINT32_MAX };
    h->n_events++;
    return 0;
}

/* By block, then by time. */
static int heap_compare(const void *a, const void *b)
{
    const struct jsp_heap_event *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool heap_is_last(const struct jsp_heap *h, uint32_t i)
{
    const struct jsp_heap_event *e = &h->events[i];
    return i + 1 == h->n_events || e->block != e[1].block || e->pid != e[1].pid;
}

int jsp_heap_seal(struct jsp_heap *h)
{
    if (!h->n_events)
        return 0;
    h->live = calloc(1, h->n_allocated / 8 + 1);
    if (!h->live)
        return -ENOMEM;
    qsort(h->events, h->n_events, sizeof *h->events, heap_compare);
    for (uint32_t i = 0; i < h->n_events; i++) {
        uint32_t ordinal = h->events[i].ordinal;
        if (ordinal != UINT32_MAX && heap_is_last(h, i))
            h->live[ordinal / 8] |= (uint8_t)(1u << ordinal % 8);
    }
    return 0;
}

bool jsp_heap_is_live(const struct jsp_heap *h, uint64_t ordinal)
{
    return h->live && h->live[ordinal / 8] >> ordinal % 8 & 1;
}

void jsp_heap_free(struct jsp_heap *h)
{
    free(h->events);
    free(h->live);
    *h = (struct jsp_heap){ 0 };
}
