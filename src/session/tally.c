/* session/tally.c - see tally.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tally.h"

#include <errno.h>
#include <stdlib.h>

enum { TALLY_FIRST = 16 };

static void tally_add(struct jsp_tally *sum, const struct jsp_tally *one)
{
    sum->kept += one->kept;
    sum->samples += one->samples;
    sum->lost += one->lost;
    sum->unfolded += one->unfolded;
}

static void tally_put_free(struct jsp_tallies *t, uint32_t slot)
{
    t->slots[slot] = (struct jsp_tally_slot){ .next = t->free };
    t->free = slot + 1;
}

static int tally_grow(struct jsp_tallies *t)
{
    uint32_t n = t->n ? 2 * t->n : TALLY_FIRST;
    struct jsp_tally_slot *more = realloc(t->slots, n * sizeof *more);
    if (!more)
        return -ENOMEM;
    t->slots = more;
    for (uint32_t slot = n; slot-- > t->n;)
        tally_put_free(t, slot);
    t->n = n;
    return 0;
}

int jsp_tallies_take(struct jsp_tallies *t, uint32_t *slot)
{
    int err = t->free ? 0 : tally_grow(t);
    if (err)
        return err;
    *slot = t->free - 1;
    t->free = t->slots[*slot].next;
    t->slots[*slot].next = 0;
    return 0;
}

static void tally_retire(struct jsp_tallies *t, uint32_t slot)
{
    struct jsp_tally_slot *s = &t->slots[slot];
    if (!s->left || s->waiting)
        return;
    tally_add(&t->gone, &s->tally);
    tally_put_free(t, slot);
}

void jsp_tallies_leave(struct jsp_tallies *t, uint32_t slot)
{
    t->slots[slot].left = true;
    tally_retire(t, slot);
}

void jsp_tallies_append(struct jsp_tallies *t, uint32_t slot, uint32_t weight)
{
    struct jsp_tally_slot *s = &t->slots[slot];
    s->tally.samples++;
    s->tally.kept += weight;
    s->waiting++;
}

void jsp_tallies_settle(struct jsp_tallies *t, uint32_t slot)
{
    t->slots[slot].waiting--;
    tally_retire(t, slot);
}

void jsp_tallies_give_up(struct jsp_tallies *t, uint32_t slot, uint32_t weight)
{
    struct jsp_tally_slot *s = &t->slots[slot];
    s->tally.samples--;
    s->tally.kept -= weight;
    s->tally.lost += weight;
    jsp_tallies_settle(t, slot);
}

void jsp_tallies_lessen(struct jsp_tallies *t, uint32_t slot, uint32_t weight)
{
    struct jsp_tally_slot *s = &t->slots[slot];
    s->tally.kept -= weight - 1;
    s->tally.lost += weight - 1;
    jsp_tallies_settle(t, slot);
}

void jsp_tallies_lose(struct jsp_tallies *t, uint32_t slot, uint32_t weight)
{
    t->slots[slot].tally.lost += weight;
}

void jsp_tallies_grow(struct jsp_tallies *t, uint32_t slot, uint32_t weight)
{
    t->slots[slot].tally.kept += weight;
}

void jsp_tallies_unfold(struct jsp_tallies *t, uint32_t slot, uint32_t weight)
{
    t->slots[slot].tally.unfolded += weight;
}

const struct jsp_tally *jsp_tallies_of(const struct jsp_tallies *t, uint32_t slot)
{
    return &t->slots[slot].tally;
}

struct jsp_tally jsp_tallies_sum(const struct jsp_tallies *t)
{
    struct jsp_tally sum = t->gone;
    for (uint32_t i = 0; i < t->n; i++)
        tally_add(&sum, &t->slots[i].tally);
    return sum;
}

void jsp_tallies_renew(struct jsp_tallies *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        t->slots[i].tally = (struct jsp_tally){ .kept = 0 };
    t->gone = (struct jsp_tally){ .kept = 0 };
}

void jsp_tallies_free(struct jsp_tallies *t)
{
    free(t->slots);
    *t = (struct jsp_tallies){ .slots = NULL };
}
