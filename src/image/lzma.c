/* image/lzma.c - see lzma.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lzma.h"

#include <string.h>

enum {
    LZMA_BITS = 11,     /* of a probability */
    LZMA_SHIFT = 5,     /* how fast a probability moves */
    LZMA_TOP = 1 << 24,
    LZMA_LEAST = 2,     /* bytes of a match */
    LZMA_AFTER_LITERAL = 7, /* smaller states follow a literal */
    LZMA_SPECIAL_SLOTS = 14,
    LZMA_ALIGN_BITS = 4,
};

void jsp_lzma_begin(struct jsp_lzma *l, uint8_t *out, size_t n_out)
{
    l->out = out;
    l->n_out = n_out;
}

void jsp_lzma_forget(struct jsp_lzma *l)
{
    l->first = l->at;
}

bool jsp_lzma_properties(struct jsp_lzma *l, uint8_t byte)
{
    unsigned lc = byte % 9, lp = byte / 9 % 5, pb = byte / 45;
    if (pb > 4 || lc + lp > 4)
        return false;
    l->lc = lc;
    l->lp = lp;
    l->pb = pb;
    l->is_ready = true;
    return true;
}

void jsp_lzma_reset(struct jsp_lzma *l)
{
    uint16_t *all = (uint16_t *)(void *)&l->model;
    for (size_t i = 0; i < sizeof l->model / sizeof *all; i++)
        all[i] = 1 << (LZMA_BITS - 1);
    l->state = 0;
    memset(l->rep, 0, sizeof l->rep);
}

void jsp_lzma_store(struct jsp_lzma *l, const uint8_t *bytes, size_t n)
{
    memcpy(l->out + l->at, bytes, n);
    l->at += n;
}

/* -- The range decoder. After the end of the chunk it reads zeros: the caller compares
 *    the sizes. */

static uint32_t lzma_byte(struct jsp_lzma *l)
{
    if (l->n_in == 0)
        return 0;
    l->n_in--;
    return *l->in++;
}

static void lzma_refill(struct jsp_lzma *l)
{
    if (l->range < LZMA_TOP) {
        l->range <<= 8;
        l->code = l->code << 8 | lzma_byte(l);
    }
}

static unsigned lzma_bit(struct jsp_lzma *l, uint16_t *p)
{
    lzma_refill(l);
    uint32_t bound = (l->range >> LZMA_BITS) * *p;
    if (l->code < bound) {
        l->range = bound;
        *p = (uint16_t)(*p + (((1 << LZMA_BITS) - *p) >> LZMA_SHIFT));
        return 0;
    }
    l->range -= bound;
    l->code -= bound;
    *p = (uint16_t)(*p - (*p >> LZMA_SHIFT));
    return 1;
}

/* Read bits that are equally likely. */
static uint32_t lzma_direct(struct jsp_lzma *l, unsigned n)
{
    uint32_t value = 0;
    for (; n > 0; n--) {
        lzma_refill(l);
        l->range >>= 1;
        bool is_one = l->code >= l->range;
        l->code -= is_one ? l->range : 0;
        value = value << 1 | is_one;
    }
    return value;
}

/* Read `n` bits, the highest first, by a tree of 1 << n probabilities. */
static unsigned lzma_tree(struct jsp_lzma *l, uint16_t *tree, unsigned n)
{
    unsigned at = 1;
    for (unsigned i = 0; i < n; i++)
        at = at << 1 | lzma_bit(l, &tree[at]);
    return at - (1u << n);
}

/* Read `n` bits, the lowest first. */
static uint32_t lzma_tree_back(struct jsp_lzma *l, uint16_t *tree, unsigned n)
{
    unsigned at = 1;
    uint32_t value = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned bit = lzma_bit(l, &tree[at]);
        at = at << 1 | bit;
        value |= bit << i;
    }
    return value;
}

/* -- Literals and matches */

static unsigned lzma_position(const struct jsp_lzma *l)
{
    return (unsigned)(l->at - l->first) & ((1u << l->pb) - 1);
}

static void lzma_literal(struct jsp_lzma *l)
{
    size_t position = (l->at - l->first) & (((size_t)1 << l->lp) - 1);
    unsigned before = l->at > l->first ? l->out[l->at - 1] : 0;
    uint16_t *tree =
        l->model.literal + 0x300 * ((position << l->lc) + (before >> (8 - l->lc)));
    unsigned at = 1;
    if (l->state >= LZMA_AFTER_LITERAL) {
        unsigned match = l->out[l->at - l->rep[0] - 1];
        for (bool is_equal = true; is_equal && at < 0x100;) {
            unsigned expected = match >> 7 & 1;
            match <<= 1;
            unsigned bit = lzma_bit(l, &tree[((1 + expected) << 8) + at]);
            at = at << 1 | bit;
            is_equal = bit == expected;
        }
    }
    while (at < 0x100)
        at = at << 1 | lzma_bit(l, &tree[at]);
    l->out[l->at++] = (uint8_t)at;
    l->state -= l->state < 4 ? l->state : l->state < 10 ? 3 : 6;
}

static size_t lzma_length(struct jsp_lzma *l, struct jsp_lzma_length *m, unsigned position)
{
    if (!lzma_bit(l, &m->choice[0]))
        return LZMA_LEAST + lzma_tree(l, m->low[position], 3);
    if (!lzma_bit(l, &m->choice[1]))
        return LZMA_LEAST + 8 + lzma_tree(l, m->middle[position], 3);
    return LZMA_LEAST + 16 + lzma_tree(l, m->high, 8);
}

static uint32_t lzma_distance(struct jsp_lzma *l, size_t length)
{
    size_t from = length - LZMA_LEAST < 3 ? length - LZMA_LEAST : 3;
    unsigned slot = lzma_tree(l, l->model.slot[from], 6);
    if (slot < 4)
        return slot;
    unsigned bits = slot / 2 - 1;
    uint32_t base = (2 | (slot & 1)) << bits;
    if (slot < LZMA_SPECIAL_SLOTS)
        return base + lzma_tree_back(l, l->model.special + base - slot, bits);
    base += lzma_direct(l, bits - LZMA_ALIGN_BITS) << LZMA_ALIGN_BITS;
    return base + lzma_tree_back(l, l->model.align, LZMA_ALIGN_BITS);
}

/* Read a match at a new distance. Return its length. */
static size_t lzma_match(struct jsp_lzma *l, unsigned position)
{
    memmove(l->rep + 1, l->rep, (JSP_LZMA_REPS - 1) * sizeof *l->rep);
    size_t length = lzma_length(l, &l->model.match, position);
    l->rep[0] = lzma_distance(l, length);
    l->state = l->state < LZMA_AFTER_LITERAL ? 7 : 10;
    return length;
}

/* Read a match at one of the last distances. Return its length. */
static size_t lzma_rep(struct jsp_lzma *l, unsigned position)
{
    struct jsp_lzma_model *m = &l->model;
    unsigned from = l->state, which = 0;
    if (!lzma_bit(l, &m->is_not_rep0[from])) {
        if (!lzma_bit(l, &m->is_long_rep0[from][position])) {
            l->state = from < LZMA_AFTER_LITERAL ? 9 : 11;
            return 1;
        }
    } else if (!lzma_bit(l, &m->is_not_rep1[from])) {
        which = 1;
    } else {
        which = lzma_bit(l, &m->is_not_rep2[from]) ? 3 : 2;
    }
    uint32_t distance = l->rep[which];
    memmove(l->rep + 1, l->rep, which * sizeof *l->rep);
    l->rep[0] = distance;
    l->state = from < LZMA_AFTER_LITERAL ? 8 : 11;
    return lzma_length(l, &m->rep, position);
}

bool jsp_lzma_decode(struct jsp_lzma *l, const uint8_t *in, size_t packed, size_t size)
{
    l->in = in;
    l->n_in = packed;
    l->range = UINT32_MAX;
    if (!l->is_ready || packed < 5 || size > l->n_out - l->at || lzma_byte(l))
        return false;
    for (int i = 0; i < 4; i++)
        l->code = l->code << 8 | lzma_byte(l);
    for (size_t end = l->at + size; l->at < end;) {
        unsigned position = lzma_position(l);
        if (!lzma_bit(l, &l->model.is_match[l->state][position])) {
            if (l->state >= LZMA_AFTER_LITERAL && l->rep[0] >= l->at - l->first)
                return false;
            lzma_literal(l);
            continue;
        }
        size_t length = lzma_bit(l, &l->model.is_rep[l->state]) ? lzma_rep(l, position)
                                                               : lzma_match(l, position);
        if (l->rep[0] >= l->at - l->first || length > end - l->at)
            return false;
        for (; length > 0; length--, l->at++)
            l->out[l->at] = l->out[l->at - l->rep[0] - 1];
    }
    lzma_refill(l);
    return l->n_in == 0 && l->code == 0;
}
