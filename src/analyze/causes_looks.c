/* analyze/causes_looks.c - which stacks of tasks look the same: their functions have the same
 * names, although they are at other addresses or lines. See causes.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "causes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/block.h"
#include "base/grow.h"
#include "base/pool.h"

struct looks {
    struct jsp_profile *p;
    const struct jsp_causes_view *view;
    struct jsp_profile_frame *frames; /* of a stack; owned */
    char *text;                       /* the names that are shown of it; owned */
    uint32_t len, room;
    struct jsp_pool texts;
};

static int looks_put(struct looks *l, const char *text)
{
    uint32_t len = (uint32_t)strlen(text) + 1;
    if (jsp_grow_by(&l->text, &l->room, l->len, len, 1) < 0)
        return -ENOMEM;
    memcpy(l->text + l->len, text, len);
    l->len += len;
    return 0;
}

/* Write the names of the n frames that are shown; an empty one says that there are more. */
static int looks_text(struct looks *l, int n)
{
    bool has_vm = false;
    uint32_t shown = 0;
    int err = 0;
    l->len = 0;
    for (int i = 0; i < n; i++)
        has_vm |= l->frames[i].origin == JSP_ORIGIN_VM;
    for (int i = 0; err == 0 && i < n; i++) {
        if (l->view->is_vm && has_vm && l->frames[i].origin != JSP_ORIGIN_VM)
            continue;
        if (l->view->most && shown++ == l->view->most)
            return looks_put(l, "");
        err = looks_put(l, l->p->functions[l->frames[i].function].name);
    }
    return err || l->len ? err : looks_put(l, "");
}

static int looks_compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Store for each stack where its text is in the pool, with its number below. */
static int looks_read(struct looks *l, const struct jsp_tasks *t, uint64_t *at)
{
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < t->n_stacks; i++) {
        int n = jsp_tasks_stack_frames(t, l->p, i, l->frames);
        err = n < 0 ? n : looks_text(l, n);
        int64_t offset = err ? err : jsp_pool_add(&l->texts, l->text, l->len);
        err = offset < 0 ? (int)offset : 0;
        at[i] = (uint64_t)offset << 32 | i;
    }
    return err;
}

int jsp_causes_looks(const struct jsp_tasks *t, struct jsp_profile *p,
                     const struct jsp_causes_view *view, uint32_t **out)
{
    struct looks l = { .p = p, .view = view };
    uint64_t *at = malloc(((size_t)t->n_stacks + 1) * sizeof *at);
    uint32_t *looks = malloc(((size_t)t->n_stacks + 1) * sizeof *looks);
    l.frames = malloc(JSP_PROFILE_DEPTH * sizeof *l.frames);
    int err = at && looks && l.frames ? looks_read(&l, t, at) : -ENOMEM;
    if (err == 0)
        qsort(at, t->n_stacks, sizeof *at, looks_compare);
    for (uint32_t i = 0, first = 0; err == 0 && i < t->n_stacks; i++) {
        first = at[i] >> 32 == at[first] >> 32 ? first : i;
        looks[(uint32_t)at[i]] = (uint32_t)at[first];
    }
    free(at);
    free(l.frames);
    free(l.text);
    jsp_block_free(l.texts.bytes);
    jsp_block_free(l.texts.slots);
    if (err)
        free(looks);
    else
        *out = looks;
    return err;
}
