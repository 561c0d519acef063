/* page/time.c - the samples by spans of time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "time.h"

#include <errno.h>
#include <stdlib.h>

enum {
    TIME_SPANS = 8192,      /* the largest number of spans, with which it starts */
    TIME_BYTES = 1350000,   /* largest size of the data on a page */
    TIME_EXACT = 50000, /* up to this many entries, values are exact to a microsecond */
    TIME_DIGITS = 100,      /* the average value in its unit */
    TIME_RADIX = 11,        /* bits sorted in one pass */
};

int64_t jsp_page_time_start(const struct jsp_page_capture *c)
{
    return c->profile->start_time;
}

static uint64_t time_since(const struct jsp_page_capture *c, int64_t time)
{
    int64_t start = jsp_page_time_start(c);
    return time > start ? (uint64_t)time - (uint64_t)start : 0;
}

/* Return 1, 2 or 5 times a power of ten that is at least `least`. */
static uint64_t time_round(uint64_t least)
{
    static const uint64_t steps[] = { 1, 2, 5 };
    for (uint64_t ten = 1; ten <= UINT64_MAX / 100; ten *= 10)
        for (int i = 0; i < 3; i++)
            if (ten * steps[i] >= least)
                return ten * steps[i];
    return least;
}

static uint64_t time_key(const struct jsp_page_time_at *a)
{
    return (uint64_t)a->span << 32 | a->stack;
}

static void time_sort_pass(const struct jsp_page_time_at *from,
                           struct jsp_page_time_at *to, uint32_t n, uint32_t shift)
{
    uint32_t at[1 << TIME_RADIX] = { 0 }, sum = 0, mask = (1 << TIME_RADIX) - 1;
    for (uint32_t i = 0; i < n; i++)
        at[time_key(&from[i]) >> shift & mask]++;
    for (uint32_t d = 0; d <= mask; d++) {
        uint32_t count = at[d];
        at[d] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++)
        to[at[time_key(&from[i]) >> shift & mask]++] = from[i];
}

/* Sort by span, then stack, and merge equal entries. Return 0 or -ENOMEM. */
static int time_sort(struct jsp_page_time *t)
{
    struct jsp_page_time_at *other = calloc((size_t)t->n + 1, sizeof *other);
    uint32_t kept = 0;
    if (!other)
        return -ENOMEM;
    for (uint32_t shift = 0; shift < 64; shift += TIME_RADIX) {
        uint32_t low = shift + TIME_RADIX;
        /* Skip digits that are 0 in all keys. */
        if ((shift < 32 && low <= 32 && t->n_stacks >> shift == 0) ||
            (shift > 32 && t->n_spans >> (shift - 32) == 0))
            continue;
        time_sort_pass(t->list, other, t->n, shift);
        struct jsp_page_time_at *sorted = other;
        other = t->list;
        t->list = sorted;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        const struct jsp_page_time_at *a = &t->list[i];
        if (kept && time_key(&t->list[kept - 1]) == time_key(a)) {
            t->list[kept - 1].value += a->value;
            t->list[kept - 1].samples += a->samples;
        } else {
            t->list[kept++] = *a;
        }
    }
    t->n = kept;
    free(other);
    return 0;
}

int jsp_page_time_build(struct jsp_page_time *t, const struct jsp_html *h,
                        const struct jsp_page_stacks *s)
{
    uint64_t n = 0, end = 1;
    memset(t, 0, sizeof *t);
    for (uint32_t c = 0; c < h->n; c++) {
        n += h->captures[c].times->n;
        uint64_t last = time_since(&h->captures[c], h->captures[c].profile->last_time);
        end = last > end ? last : end;
    }
    t->list = n <= UINT32_MAX ? calloc(n + 1, sizeof *t->list) : NULL;
    if (!t->list)
        return -ENOMEM;
    uint64_t least = end / TIME_SPANS + 1;
    t->span_ns = time_round(least > 1000000 ? least : 1000000);
    t->n_spans = (uint32_t)(end / t->span_ns) + 1;
    t->n_stacks = s->n;
    for (uint32_t c = 0; c < h->n; c++)
        for (uint32_t i = 0; i < h->captures[c].times->n; i++) {
            const struct jsp_profile_sample *from = &h->captures[c].times->list[i];
            uint32_t stack = s->of[c][s->is_by_sample ? i : from->stack];
            uint64_t span = time_since(&h->captures[c], from->time) / t->span_ns;
            if (stack == 0)
                continue;
            t->list[t->n++] = (struct jsp_page_time_at){
                .span = span < t->n_spans ? (uint32_t)span : t->n_spans - 1,
                .stack = stack - 1, .value = from->value, .samples = 1,
            };
        }
    return time_sort(t);
}

void jsp_page_time_free(struct jsp_page_time *t)
{
    free(t->list);
    memset(t, 0, sizeof *t);
}

static uint64_t time_unit(const struct jsp_page_time *t, bool is_time)
{
    uint64_t sum = 0, unit = is_time ? 1000 : 1;
    for (uint32_t i = 0; i < t->n; i++)
        sum += t->list[i].value;
    if (!is_time || t->n <= TIME_EXACT)
        return unit;
    while (sum / t->n / unit > TIME_DIGITS)
        unit *= 10;
    return unit;
}

/* Write one span. `rest` is the remainder of each stack's value. */
static void time_span(const struct jsp_page_time *t, uint32_t from, uint32_t to,
                      uint64_t *rest, struct jsp_page_bytes *out)
{
    uint32_t before = 0;
    jsp_page_varint(out, to - from);
    for (uint32_t i = from; i < to; i++) {
        const struct jsp_page_time_at *a = &t->list[i];
        uint64_t value = rest[a->stack] + a->value;
        jsp_page_varint(out, (uint64_t)(a->stack - before) << 1 | (a->samples != 1));
        if (a->samples != 1)
            jsp_page_varint(out, a->samples);
        jsp_page_varint(out, value / t->unit);
        rest[a->stack] = value % t->unit;
        before = a->stack;
    }
}

static int time_encode(const struct jsp_page_time *t, struct jsp_page_bytes *out)
{
    uint64_t *rest = calloc((size_t)t->n_stacks + 1, sizeof *rest);
    uint32_t at = 0;
    if (!rest)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->n_stacks; i++)
        rest[i] = t->unit / 2; /* so that each sum is rounded, not truncated */
    for (uint32_t span = 0; span < t->n_spans; span++) {
        uint32_t from = at;
        while (at < t->n && t->list[at].span == span)
            at++;
        time_span(t, from, at, rest, out);
    }
    free(rest);
    return out->error;
}

int jsp_page_time_encode(struct jsp_page_time *t, bool is_time, struct jsp_page_bytes *out)
{
    for (;;) {
        t->unit = time_unit(t, is_time);
        int err = time_encode(t, out);
        if (err < 0 || out->n <= TIME_BYTES || t->n_spans == 1)
            return err;
        out->n = 0;
        t->span_ns *= 2;
        t->n_spans = (t->n_spans + 1) / 2;
        for (uint32_t i = 0; i < t->n; i++)
            t->list[i].span /= 2;
        err = time_sort(t);
        if (err < 0)
            return err;
    }
}
