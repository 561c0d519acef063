/* analyze/spans.c - the spans of time in which marks of one name are open.
 *
 * SPDX-License-Identifier: MIT
 */
#include "spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/grow.h"
#include "capture/wire.h"

bool jsp_spans_is_named(const struct jsp_read_mark *m, const char *name)
{
    size_t n = m->group.len;
    return jsp_read_is(m->name, name) ||
           (strlen(name) > n && memcmp(name, m->group.at, n) == 0 && name[n] == '/' &&
            jsp_read_is(m->name, name + n + 1));
}

static int spans_compare(const void *a, const void *b)
{
    const struct jsp_span *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Put spans in order, and make one of those that overlap or touch. */
static void spans_join(struct jsp_spans *s)
{
    uint32_t kept = 0;
    if (s->n)
        qsort(s->at, s->n, sizeof *s->at, spans_compare);
    for (uint32_t i = 0; i < s->n; i++) {
        struct jsp_span *last = kept ? &s->at[kept - 1] : NULL;
        if (!last || s->at[i].from > last->to)
            s->at[kept++] = s->at[i];
        else if (s->at[i].to > last->to)
            last->to = s->at[i].to;
    }
    s->n = kept;
}

int jsp_spans_of_marks(struct jsp_spans *s, const struct jsp_read *capture, const char *name)
{
    struct jsp_read_cursor cursor;
    struct jsp_read_frame f;
    struct jsp_read_mark m;
    memset(s, 0, sizeof *s);
    jsp_read_start(&cursor, capture, NULL);
    while (jsp_read_next(&cursor, &f)) {
        if (f.type != JSP_WIRE_MARK || !jsp_read_mark(&cursor, &f, &m) ||
            jsp_read_is(m.group, JSP_WIRE_TASK_MARKS) || !jsp_spans_is_named(&m, name))
            continue;
        s->n_marks++;
        struct jsp_span span = { f.time, f.time };
        if (m.duration <= 0)
            continue;
        if (__builtin_add_overflow(f.time, m.duration, &span.to))
            span.to = INT64_MAX;
        if (jsp_grow(&s->at, &s->room, s->n, sizeof *s->at) < 0)
            return -ENOMEM;
        s->at[s->n++] = span;
    }
    spans_join(s);
    return 0;
}

void jsp_spans_free(struct jsp_spans *s)
{
    free(s->at);
    memset(s, 0, sizeof *s);
}

static bool spans_is_before(const void *item, const void *key)
{
    return ((const struct jsp_span *)item)->to <= *(const int64_t *)key;
}

bool jsp_spans_overlap(const struct jsp_spans *s, int64_t from, int64_t to)
{
    size_t at = s->n ? jsp_bisect(s->at, s->n, sizeof *s->at, spans_is_before, &from) : 0;
    return at < s->n && s->at[at].from <= to;
}
