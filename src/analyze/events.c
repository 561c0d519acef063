/* analyze/events.c - marks and counters of a capture.
 *
 * SPDX-License-Identifier: MIT
 */
#include "events.h"

#include <errno.h>
#include <stdlib.h>

#include "work.h"
#include "capture/wire.h"

struct events_scan {
    struct jsp_events *out;
    struct jsp_profile *p;
    struct jsp_events_of of;
    struct jsp_read_cursor cursor;
    struct jsp_read_frame frame;
    uint32_t marks_room, counters_room, values_room;
    struct jsp_hash by_id; /* id -> its newest definition */
};

static bool events_is_of(const struct events_scan *s)
{
    for (uint32_t i = 0; s->of.pids && i < s->of.n; i++)
        if (s->of.pids[i] == s->frame.pid)
            return true;
    return !s->of.pids;
}

static int events_mark(struct events_scan *s)
{
    struct jsp_events *e = s->out;
    struct jsp_read_mark m;
    if (!jsp_read_mark(&s->cursor, &s->frame, &m) || jsp_read_is(m.group, JSP_WIRE_TASK_MARKS))
        return 0;
    int64_t end = s->frame.time, length = m.duration > 0 ? m.duration : 0;
    if (__builtin_add_overflow(s->frame.time, length, &end))
        end = INT64_MAX;
    if (!jsp_work_overlaps(s->p, s->frame.time, end))
        return 0;
    if (jsp_grow(&e->marks, &s->marks_room, e->n_marks, sizeof *e->marks) < 0)
        return -ENOMEM;
    e->marks[e->n_marks++] = (struct jsp_event_mark){ s->frame.time, length,    m.group,
                                                  m.name,        m.message, s->frame.pid };
    return 0;
}

static uint32_t events_hash(const struct events_scan *s, uint32_t id)
{
    return (uint32_t)jsp_hash_mix(s->by_id.seed, id);
}

/* Return the position + 1 of a counter, or 0 if it is not defined. */
static uint32_t events_find(const struct events_scan *s, uint32_t id)
{
    uint32_t hash = events_hash(s, id), probe = hash, at;
    while ((at = jsp_hash_next(&s->by_id, hash, &probe)) != 0)
        if (s->out->counters[at - 1].id == id)
            break;
    return at;
}

static int events_define(struct events_scan *s, const struct jsp_read_counter *c)
{
    struct jsp_events *e = s->out;
    uint32_t before = events_find(s, c->id), hash = events_hash(s, c->id);
    if (jsp_grow(&e->counters, &s->counters_room, e->n_counters, sizeof *e->counters) < 0)
        return -ENOMEM;
    e->counters[e->n_counters] = (struct jsp_event_counter){
        c->group, c->name, c->what, c->id, s->frame.pid, c->is_real, 0
    };
    if (!before)
        return jsp_hash_add(&s->by_id, hash, e->n_counters++);
    jsp_hash_move(&s->by_id, hash, before - 1, e->n_counters++);
    return 0;
}

static int events_value(struct events_scan *s, const struct jsp_read_counter *c)
{
    struct jsp_events *e = s->out;
    uint32_t counter = events_find(s, c->id);
    if (!counter) {
        e->undefined++;
        return 0;
    }
    if (!jsp_work_overlaps(s->p, s->frame.time, s->frame.time))
        return 0;
    double value = (double)(int64_t)c->bits;
    if (e->counters[counter - 1].is_real)
        memcpy(&value, &c->bits, sizeof value);
    if (jsp_grow(&e->values, &s->values_room, e->n_values, sizeof *e->values) < 0)
        return -ENOMEM;
    e->values[e->n_values++] =
        (struct jsp_event_value){ s->frame.time, value, counter - 1 };
    e->counters[counter - 1].n_values++;
    return 0;
}

static int events_counters(struct events_scan *s)
{
    struct jsp_read_counters all;
    struct jsp_read_counter one;
    int err = 0;
    if (!jsp_read_counters(&s->cursor, &s->frame, &all))
        return 0;
    while (err == 0 && jsp_read_counter(&s->cursor, &s->frame, &all, &one))
        err = s->frame.type == JSP_WIRE_CTRDEF ? events_define(s, &one)
                                               : events_value(s, &one);
    return err;
}

int jsp_events_read(struct jsp_events *e, struct jsp_profile *p, struct jsp_events_of of)
{
    struct events_scan s = { .out = e, .p = p, .of = of };
    memset(e, 0, sizeof *e);
    int err = jsp_hash_init(&s.by_id, 0);
    /* loading has counted unreadable frames */
    jsp_read_start(&s.cursor, p->capture, NULL);
    while (err == 0 && jsp_read_next(&s.cursor, &s.frame)) {
        bool is_mark = s.frame.type == JSP_WIRE_MARK;
        bool is_counter =
            s.frame.type == JSP_WIRE_CTRDEF || s.frame.type == JSP_WIRE_CTRSET;
        if ((is_mark || is_counter) && events_is_of(&s))
            err = is_mark ? events_mark(&s) : events_counters(&s);
    }
    jsp_hash_free(&s.by_id);
    if (err < 0)
        jsp_events_free(e);
    return err;
}

void jsp_events_free(struct jsp_events *e)
{
    free(e->marks);
    free(e->counters);
    free(e->values);
    memset(e, 0, sizeof *e);
}
