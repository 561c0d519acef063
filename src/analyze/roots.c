/* analyze/roots.c - the same program in two folders.
 *
 * SPDX-License-Identifier: MIT
 */
#include "roots.h"

#include <errno.h>
#include <stdlib.h>

#include "name_parts.h"
#include "work.h"
#include "base/bisect.h"
#include "jsprof.h"

enum { ROOTS_CANDIDATES = 16, ROOTS_VOTES = 64 }; /* bounds for hostile names */

/* A function with a file. */
struct roots_item {
    struct jsp_read_text file, name; /* name: without the file */
    uint32_t function;
    bool is_done; /* its file is in both profiles, or its root is known */
};

struct roots_side {
    struct jsp_profile *profile;
    struct roots_item *items;
    uint32_t n, room;
};

/* Two paths without what they share at the end, and how many functions agree about it. */
struct roots_vote {
    struct jsp_read_text of[2];
    uint32_t n;
};

static int roots_order(struct jsp_read_text a, struct jsp_read_text b)
{
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
    return order ? order : a.len < b.len ? -1 : a.len > b.len;
}

static struct jsp_read_text roots_base(struct jsp_read_text file)
{
    uint32_t at = file.len;
    while (at > 0 && file.at[at - 1] != '/')
        at--;
    return (struct jsp_read_text){ file.at + at, file.len - at };
}

static int roots_by_file(const void *x, const void *y)
{
    const struct roots_item *a = x, *b = y;
    return roots_order(a->file, b->file);
}

static int roots_by_name(const void *x, const void *y)
{
    const struct roots_item *a = x, *b = y;
    int order = roots_order(a->name, b->name);
    if (order == 0)
        order = roots_order(roots_base(a->file), roots_base(b->file));
    return order ? order : roots_order(a->file, b->file);
}

static bool roots_is_before(const void *item, const void *key)
{
    const struct roots_item *a = item, *b = key;
    int order = roots_order(a->name, b->name);
    return (order ? order : roots_order(roots_base(a->file), roots_base(b->file))) < 0;
}

static int roots_collect(struct roots_side *s)
{
    const struct jsp_profile *p = s->profile;
    for (uint32_t i = 0; i < p->n_functions; i++) {
        const struct jsp_function *f = &p->functions[i];
        struct jsp_name_parts parts = jsp_name_split(f->name);
        struct roots_item item = { parts.file, parts.name, i, false };
        if (item.file.len == 0) /* a script: its file is its name */
            item.file = parts.name;
        if (item.file.at == parts.name.at)
            item.name.len = 0;
        if (f->kind != JSPROF_KIND_VM ||
            (parts.file.len == 0 && !jsp_name_is_file(parts.name)))
            continue;
        if (jsp_grow(&s->items, &s->room, s->n, sizeof item) < 0)
            return -ENOMEM;
        s->items[s->n++] = item;
    }
    return 0;
}

/* Leave files alone that both profiles have. */
static void roots_share(struct roots_side sides[2])
{
    for (int i = 0; i < 2; i++)
        if (sides[i].n)
            qsort(sides[i].items, sides[i].n, sizeof *sides[i].items, roots_by_file);
    for (uint32_t a = 0, b = 0; a < sides[0].n && b < sides[1].n;) {
        struct roots_item *x = &sides[0].items[a], *y = &sides[1].items[b];
        int order = roots_order(x->file, y->file);
        if (order == 0) {
            struct jsp_read_text file = x->file;
            while (a < sides[0].n && roots_order(sides[0].items[a].file, file) == 0)
                sides[0].items[a++].is_done = true;
            while (b < sides[1].n && roots_order(sides[1].items[b].file, file) == 0)
                sides[1].items[b++].is_done = true;
        }
        a += order < 0;
        b += order > 0;
    }
    if (sides[1].n)
        qsort(sides[1].items, sides[1].n, sizeof *sides[1].items, roots_by_name);
}

static void roots_vote(struct roots_vote votes[ROOTS_VOTES], uint32_t *n,
                       struct jsp_read_text a, struct jsp_read_text b)
{
    /* The last parts of both agree: count the bytes of all parts that do. */
    uint32_t same = 0, shared = 0;
    while (same < a.len && same < b.len && a.at[a.len - 1 - same] == b.at[b.len - 1 - same]) {
        same++;
        bool is_part = same == a.len || a.at[a.len - 1 - same] == '/';
        if (is_part && (same == b.len || b.at[b.len - 1 - same] == '/'))
            shared = same;
    }
    a.len -= shared;
    b.len -= shared;
    for (uint32_t i = 0; i < *n; i++)
        if (roots_order(votes[i].of[0], a) == 0 && roots_order(votes[i].of[1], b) == 0) {
            votes[i].n++;
            return;
        }
    if (*n < ROOTS_VOTES)
        votes[(*n)++] = (struct roots_vote){ { a, b }, 1 };
}

/* Return true if as many functions pair one of the vote's folders with another one, which is
 * neither below nor above: then both pairs are a guess. */
static bool roots_is_tie(const struct roots_vote *votes, uint32_t n, const struct roots_vote *v)
{
    for (uint32_t i = 0; i < n; i++)
        for (int side = 0; side < 2; side++) {
            struct jsp_read_text a = votes[i].of[side], b = v->of[side];
            uint32_t shorter = a.len < b.len ? a.len : b.len;
            if (votes[i].n == v->n && memcmp(a.at, b.at, shorter) != 0 &&
                roots_order(votes[i].of[!side], v->of[!side]) == 0)
                return true;
        }
    return false;
}

/* Find the two folders about which most functions agree, without a tie. Return false if there
 * are none. */
static bool roots_best(const struct roots_side sides[2], struct roots_vote *best)
{
    struct roots_vote votes[ROOTS_VOTES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < sides[0].n; i++) {
        const struct roots_item *a = &sides[0].items[i];
        if (a->is_done)
            continue;
        size_t at = jsp_bisect(sides[1].items, sides[1].n, sizeof *a, roots_is_before, a);
        for (size_t k = 0; k < ROOTS_CANDIDATES && at + k < sides[1].n; k++) {
            const struct roots_item *b = &sides[1].items[at + k];
            if (roots_order(a->name, b->name) != 0 ||
                roots_order(roots_base(a->file), roots_base(b->file)) != 0)
                break;
            if (!b->is_done)
                roots_vote(votes, &n, a->file, b->file);
        }
    }
    *best = (struct roots_vote){ 0 };
    for (uint32_t i = 0; i < n; i++) {
        uint32_t len = votes[i].of[0].len + votes[i].of[1].len;
        uint32_t best_len = best->of[0].len + best->of[1].len;
        if ((votes[i].n > best->n || (votes[i].n == best->n && len < best_len)) &&
            !roots_is_tie(votes, n, &votes[i]))
            *best = votes[i];
    }
    return best->n > 0;
}

static bool roots_is_below(struct jsp_read_text file, struct jsp_read_text root)
{
    if (root.len == 0)
        return file.len && *file.at != '/' && !jsp_source_is_url(file);
    return file.len > root.len && memcmp(file.at, root.at, root.len) == 0;
}

static int roots_cut(struct roots_side *s, struct jsp_read_text root)
{
    for (uint32_t i = 0; i < s->n; i++) {
        struct roots_item *item = &s->items[i];
        const char *name = s->profile->functions[item->function].name;
        if (item->is_done || !roots_is_below(item->file, root))
            continue;
        item->is_done = true;
        size_t before = (size_t)(item->file.at - name), len = strlen(name) - root.len;
        char *cut = malloc(len + 1);
        if (!cut)
            return -ENOMEM;
        memcpy(cut, name, before);
        memcpy(cut + before, item->file.at + root.len, len - before + 1);
        int err = jsp_resolve_rename(s->profile, item->function, cut);
        free(cut);
        if (err)
            return err;
    }
    return 0;
}

int jsp_roots_strip(struct jsp_roots *r, struct jsp_profile *const of[2])
{
    struct roots_side sides[2] = { { .profile = of[0] }, { .profile = of[1] } };
    struct roots_vote best;
    memset(r, 0, sizeof *r);
    int err = roots_collect(&sides[0]);
    if (err == 0)
        err = roots_collect(&sides[1]);
    if (err == 0)
        roots_share(sides);
    while (err == 0 && r->n < JSP_ROOTS_MOST && roots_best(sides, &best)) {
        struct jsp_root *root = &r->list[r->n++];
        root->n_functions = best.n;
        for (int i = 0; err == 0 && i < 2; i++) {
            root->of[i] = strndup(best.of[i].at, best.of[i].len);
            err = root->of[i] ? roots_cut(&sides[i], best.of[i]) : -ENOMEM;
        }
    }
    free(sides[0].items);
    free(sides[1].items);
    if (err)
        jsp_roots_free(r);
    return err;
}

void jsp_roots_free(struct jsp_roots *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        free(r->list[i].of[0]);
        free(r->list[i].of[1]);
    }
    memset(r, 0, sizeof *r);
}
