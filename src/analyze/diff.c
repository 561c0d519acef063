/* analyze/diff.c - a comparison of two profiles, function by function, by share.
 *
 * SPDX-License-Identifier: MIT
 */
#include "diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { DIFF_MOST_TIMES = 1000 };

struct diff_build {
    struct jsp_diff *out;
    uint32_t room;
    struct jsp_hash by_name;
};

/* The identifying part of "name (file:12:3)" is "name (file". */
size_t jsp_diff_name(const char *name)
{
    size_t n = strlen(name), at = n;
    if (n == 0 || name[n - 1] != ')')
        return n;
    while (at > 0 && (name[at - 1] == ')' || name[at - 1] == ':' ||
                      (name[at - 1] >= '0' && name[at - 1] <= '9')))
        at--;
    /* Digits without a colon before them are part of the name. */
    const char *colon = memchr(name + at, ':', n - at);
    return colon ? (size_t)(colon - name) : n;
}

static int diff_row(struct diff_build *b, const struct jsp_function *f,
                    struct jsp_diff_row **out)
{
    struct jsp_diff *d = b->out;
    size_t n = jsp_diff_name(f->name);
    uint32_t hash = (uint32_t)(jsp_hash_bytes(b->by_name.seed, f->name, n) >> 16);
    uint32_t probe = hash, at;
    while ((at = jsp_hash_next(&b->by_name, hash, &probe)) != 0) {
        struct jsp_diff_row *r = &d->rows[at - 1];
        if (jsp_diff_name(r->name) == n && memcmp(r->name, f->name, n) == 0 &&
            strcmp(r->module, f->module) == 0) {
            *out = r;
            return 0;
        }
    }
    if (jsp_grow(&d->rows, &b->room, d->n, sizeof *d->rows) < 0)
        return -ENOMEM;
    *out = &d->rows[d->n];
    **out = (struct jsp_diff_row){ .name = f->name, .module = f->module, .kind = f->kind };
    return jsp_hash_add(&b->by_name, hash, d->n++);
}

/* Return the number of equally weighted samples that would give the same certainty. */
static double diff_worth(const struct jsp_diff_side *side)
{
    const struct jsp_profile *p = side->profile;
    double all = (double)p->value;
    double worth = p->squares > 0 ? all * all / p->squares : 0;
    return p->samples ? worth * (double)side->functions->samples / (double)p->samples : 0;
}

/* Return the probability that chance alone puts two shares of so many samples this far
 * apart. */
static double diff_chance(const double share[2], const double worth[2])
{
    double n = worth[0] + worth[1];
    if (worth[0] <= 0 || worth[1] <= 0)
        return 1;
    double both = (share[0] * worth[0] + share[1] * worth[1]) / n;
    double variance = both * (1 - both) * (1 / worth[0] + 1 / worth[1]);
    if (variance <= 0)
        return 1;
    return erfc(fabs(share[1] - share[0]) / sqrt(2 * variance));
}

static double diff_share(uint64_t value, const struct jsp_diff_side *side)
{
    double share =
        side->functions->value ? (double)value / (double)side->functions->value : 0;
    return share < 1 ? share : 1; /* functions that were merged may count a stack twice */
}

bool jsp_diff_is_real(double chance, uint32_t n_judged)
{
    return chance * (n_judged ? n_judged : 1) < 0.05;
}

/* Return how many standard deviations a chance is away. */
static double diff_deviations(double chance)
{
    double low = 0, high = 40;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) > chance)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The deviations grow with the root of the number of samples. */
double jsp_diff_times(double chance, uint32_t n_judged)
{
    double is = diff_deviations(chance), wanted = diff_deviations(0.05 / (n_judged ? n_judged : 1));
    double times = is > 0 ? wanted * wanted / (is * is) : 0;
    return times <= (double)DIFF_MOST_TIMES ? times : 0;
}

static int diff_order(double x, double y, const struct jsp_diff_row *a,
                      const struct jsp_diff_row *b)
{
    if (x != y)
        return x > y ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->module, b->module);
}

static int diff_by_self(const void *a, const void *b)
{
    const struct jsp_diff_row *x = a, *y = b;
    return diff_order(fabs(x->share[1] - x->share[0]), fabs(y->share[1] - y->share[0]), x,
                      y);
}

static int diff_by_total(const void *a, const void *b)
{
    const struct jsp_diff_row *x = a, *y = b;
    return diff_order(fabs(x->total_share[1] - x->total_share[0]),
                      fabs(y->total_share[1] - y->total_share[0]), x, y);
}

void jsp_diff_sort_total(struct jsp_diff *d)
{
    if (d->n)
        qsort(d->rows, d->n, sizeof *d->rows, diff_by_total);
}

int jsp_diff_build(struct jsp_diff *d, const struct jsp_diff_side sides[2])
{
    struct diff_build b = { .out = d };
    struct jsp_diff_row *row;
    memset(d, 0, sizeof *d);
    int err = jsp_hash_init(&b.by_name, 0);
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; err == 0 && i < sides[side].functions->n; i++) {
            const struct jsp_function_row *from = &sides[side].functions->rows[i];
            err = diff_row(&b, &sides[side].profile->functions[from->function], &row);
            if (err < 0)
                break;
            row->self[side] += from->self;
            row->total[side] += from->total;
            row->samples[side] += from->self_samples;
            row->kind = from->kind;
        }
    jsp_hash_free(&b.by_name);
    if (err < 0) {
        jsp_diff_free(d);
        return err;
    }
    const double worth[2] = { diff_worth(&sides[0]), diff_worth(&sides[1]) };
    for (uint32_t i = 0; i < d->n; i++) {
        struct jsp_diff_row *r = &d->rows[i];
        for (int j = 0; j < 2; j++) {
            r->share[j] = diff_share(r->self[j], &sides[j]);
            r->total_share[j] = diff_share(r->total[j], &sides[j]);
        }
        r->chance = diff_chance(r->share, worth);
        r->total_chance = diff_chance(r->total_share, worth);
        d->n_judged += fmax(r->share[0], r->share[1]) >= JSP_DIFF_LEAST;
        d->n_total_judged += fmax(r->total_share[0], r->total_share[1]) >= JSP_DIFF_LEAST;
    }
    if (d->n)
        qsort(d->rows, d->n, sizeof *d->rows, diff_by_self);
    return 0;
}

void jsp_diff_free(struct jsp_diff *d)
{
    free(d->rows);
    memset(d, 0, sizeof *d);
}
