/* session/marks.c - see marks.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "marks.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "capture/encode.h"
#include "sigsafe/room.h"

void jsp_marks_init(struct jsp_marks *m, int32_t pid)
{
    memset(m, 0, sizeof *m);
    m->pid = pid;
    pthread_mutex_init(&m->lock, NULL);
}

void jsp_marks_free(struct jsp_marks *m)
{
    free(m->queue);
    free(m->counters);
    pthread_mutex_destroy(&m->lock);
}

/* Begin a frame in the queue, with `lock` held. -ENOMEM. */
static int marks_frame(struct jsp_marks *m, struct jsp_encode *e, enum jsp_wire_type type,
                       uint64_t time)
{
    struct jsp_encode_head head = { .time = (int64_t)time, .pid = m->pid, .cpu = -1,
                                    .type = (uint8_t)type };
    if (!m->queue)
        m->queue = malloc(JSP_MARKS_QUEUE);
    if (!m->queue) {
        m->lost++;
        return -ENOMEM;
    }
    *e = (struct jsp_encode){ .at = m->queue + m->used, .room = JSP_MARKS_QUEUE - m->used };
    jsp_encode_begin(e, &head);
    return 0;
}

/* -ENOBUFS: the queue is full, and the frame is not in it. */
static int marks_append(struct jsp_marks *m, struct jsp_encode *e)
{
    if (e->is_cut) {
        m->lost++;
        return -ENOBUFS;
    }
    m->used += (uint32_t)jsp_encode_end(e);
    return 0;
}

/* Return the part of the text that fits into a field of `width` bytes with a 0 after it.
 * It is never cut inside a character of UTF-8. */
static struct jsp_read_text marks_text(size_t width, const char *text)
{
    size_t n = text ? strnlen(text, width) : 0;
    if (n == width)
        for (n--; n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80;)
            n--;
    return (struct jsp_read_text){ text, (uint32_t)n };
}

static void marks_copy(char *to, size_t width, const char *from)
{
    struct jsp_read_text text = marks_text(width, from);
    if (text.len)
        memcpy(to, text.at, text.len);
    to[text.len] = 0;
}

static int marks_mark_locked(struct jsp_marks *m, const struct jsp_marks_mark *mark)
{
    struct jsp_read_mark to = {
        .duration = (int64_t)(mark->end_ns - mark->begin_ns),
        .group = marks_text(24, mark->group), .name = marks_text(40, mark->name),
        .message = marks_text(JSP_MARKS_MESSAGE + 1, mark->message),
    };
    struct jsp_encode e;
    int err = m->is_off ? 0 : marks_frame(m, &e, JSP_WIRE_MARK, mark->begin_ns);
    if (err || m->is_off)
        return err;
    jsp_encode_mark(&e, &to);
    return marks_append(m, &e);
}

int jsp_marks_mark(struct jsp_marks *m, const struct jsp_marks_mark *mark)
{
    struct jsp_marks_mark full = *mark;
    if (!full.end_ns)
        full.end_ns = jsp_now_ns(CLOCK_MONOTONIC);
    if (!full.begin_ns || full.begin_ns > full.end_ns)
        full.begin_ns = full.end_ns;
    pthread_mutex_lock(&m->lock);
    int err = marks_mark_locked(m, &full);
    pthread_mutex_unlock(&m->lock);
    return err;
}

int jsp_marks_log(struct jsp_marks *m, uint16_t severity, const char *domain,
                  const char *message)
{
    struct jsp_read_pair pair = { marks_text(32, domain),
                                  marks_text(JSP_MARKS_MESSAGE + 1, message) };
    struct jsp_encode e;
    pthread_mutex_lock(&m->lock);
    int err = m->is_off ? 0 : marks_frame(m, &e, JSP_WIRE_LOG, jsp_now_ns(CLOCK_MONOTONIC));
    if (!err && !m->is_off) {
        jsp_encode_log(&e, severity, &pair);
        err = marks_append(m, &e);
    }
    pthread_mutex_unlock(&m->lock);
    return err;
}

static int marks_find(const struct jsp_marks *m, const struct jsp_marks_counter *c)
{
    for (uint32_t i = 0; i < m->n_counters; i++) {
        const struct jsp_marks_counter *have = &m->counters[i];
        if (strcmp(have->group, c->group) == 0 && strcmp(have->name, c->name) == 0)
            return have->is_real == c->is_real ? (int)i + 1 : -EEXIST;
    }
    return 0;
}

/* Append the definition of the counter with this id. */
static int marks_write_definition(struct jsp_marks *m, uint32_t id,
                                  const struct jsp_marks_counter *c, const char *what)
{
    struct jsp_read_counter to = { .group = jsp_encode_string(c->group),
                                   .name = jsp_encode_string(c->name),
                                   .what = marks_text(52, what), .id = id,
                                   .is_real = c->is_real };
    struct jsp_encode e;
    int err = marks_frame(m, &e, JSP_WIRE_CTRDEF, jsp_now_ns(CLOCK_MONOTONIC));
    if (err)
        return err;
    jsp_encode_counter(&e, &to);
    return marks_append(m, &e);
}

static int marks_define(struct jsp_marks *m, const struct jsp_marks_counter *c,
                        const char *what)
{
    if (m->n_counters == JSP_MARKS_COUNTERS)
        return -ENOSPC;
    if (!m->counters)
        m->counters = calloc(JSP_MARKS_COUNTERS, sizeof *m->counters);
    if (!m->counters)
        return -ENOMEM;
    int err = m->is_off ? 0 : marks_write_definition(m, m->n_counters + 1, c, what);
    if (err)
        return err;
    m->counters[m->n_counters] = *c;
    /* ORDER: release, for the copy that a fork on another thread makes; no partner. */
    atomic_thread_fence(memory_order_release);
    return (int)++m->n_counters;
}

void jsp_marks_take_over(struct jsp_marks *m, const struct jsp_marks *parents)
{
    for (uint32_t i = 0; i < parents->n_counters; i++) {
        struct jsp_marks_counter c = parents->counters[i];
        c.is_set = false;
        if (marks_define(m, &c, NULL) < 0)
            break;
    }
}

int jsp_marks_counter(struct jsp_marks *m, const struct jsp_marks_definition *d)
{
    struct jsp_marks_counter c = { .is_real = d->is_real };
    marks_copy(c.group, sizeof c.group, d->group);
    marks_copy(c.name, sizeof c.name, d->name);
    pthread_mutex_lock(&m->lock);
    int id = marks_find(m, &c);
    if (id == 0)
        id = marks_define(m, &c, d->what);
    pthread_mutex_unlock(&m->lock);
    return id;
}

static int marks_write_value(struct jsp_marks *m, uint32_t id, uint64_t bits)
{
    struct jsp_encode e;
    int err = marks_frame(m, &e, JSP_WIRE_CTRSET, jsp_now_ns(CLOCK_MONOTONIC));
    if (err)
        return err;
    jsp_encode_value(&e, id, bits);
    return marks_append(m, &e);
}

static int marks_set_locked(struct jsp_marks *m, uint32_t id, uint64_t bits)
{
    struct jsp_marks_counter *c = &m->counters[id - 1];
    if (c->is_set && c->bits == bits)
        return 0;
    int err = m->is_off ? 0 : marks_write_value(m, id, bits);
    if (err)
        return err;
    c->bits = bits;
    c->is_set = true;
    return 0;
}

int jsp_marks_set(struct jsp_marks *m, int counter, int64_t whole, double real)
{
    uint64_t bits = (uint64_t)whole;
    int err = -ENOENT;
    pthread_mutex_lock(&m->lock);
    if (counter > 0 && (uint32_t)counter <= m->n_counters) {
        if (m->counters[counter - 1].is_real)
            memcpy(&bits, &real, sizeof bits);
        err = marks_set_locked(m, (uint32_t)counter, bits);
    }
    pthread_mutex_unlock(&m->lock);
    return err;
}

static uint32_t marks_length(const struct jsp_marks *m, uint32_t at)
{
    uint16_t len;
    memcpy(&len, m->queue + at, sizeof len);
    return len;
}

/* Forget that the value in this frame is in the file. */
static void marks_unset(struct jsp_marks *m, const struct jsp_wire_ctrset *set)
{
    uint32_t id = set->group.ids[0]; /* the one value that a frame of ours has */
    if (id && id <= m->n_counters)
        m->counters[id - 1].is_set = false;
}

/* Return what the filter says of the frame. Definitions and logs are always written. */
static enum jsp_stall marks_of(struct jsp_marks *m, uint32_t at,
                               const struct jsp_marks_filter *filter)
{
    struct jsp_wire_mark mark;
    struct jsp_wire_ctrset set;
    struct jsp_wire_frame head;
    memcpy(&head, m->queue + at, sizeof head);
    uint64_t from = (uint64_t)head.time, to = from;
    if (!filter || (head.type != JSP_WIRE_MARK && head.type != JSP_WIRE_CTRSET))
        return JSP_STALL_KEEP;
    if (head.type == JSP_WIRE_MARK) {
        memcpy(&mark, m->queue + at, sizeof mark);
        to += (uint64_t)mark.duration;
    }
    enum jsp_stall is = filter->of(filter->context, from, to);
    if (is == JSP_STALL_DROP && head.type == JSP_WIRE_CTRSET) {
        memcpy(&set, m->queue + at, sizeof set);
        marks_unset(m, &set);
    }
    return is;
}

void jsp_marks_drain(struct jsp_marks *m, struct jsp_writer *w,
                     const struct jsp_marks_filter *filter)
{
    uint32_t done = 0;
    pthread_mutex_lock(&m->lock);
    while (done < m->used) {
        enum jsp_stall is = marks_of(m, done, filter);
        if (is == JSP_STALL_WAIT ||
            (is == JSP_STALL_KEEP && jsp_writer_copy(w, m->queue + done) != 0))
            break;
        done += marks_length(m, done);
    }
    m->used -= done;
    if (done)
        memmove(m->queue, m->queue + done, m->used);
    pthread_mutex_unlock(&m->lock);
}

void jsp_marks_give_up(struct jsp_marks *m, const struct jsp_writer *w)
{
    static const uint8_t types[] = { JSP_WIRE_MARK, JSP_WIRE_LOG, JSP_WIRE_CTRSET,
                                     JSP_WIRE_CTRDEF };
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < sizeof types; i++)
        m->lost += jsp_writer_waiting(w, types[i]);
    for (uint32_t at = 0; at < m->used; m->lost++)
        at += marks_length(m, at);
    m->used = 0;
    pthread_mutex_unlock(&m->lock);
}

void jsp_marks_lose(struct jsp_marks *m, uint64_t n)
{
    pthread_mutex_lock(&m->lock);
    m->lost += n;
    pthread_mutex_unlock(&m->lock);
}

uint64_t jsp_marks_lost(struct jsp_marks *m)
{
    pthread_mutex_lock(&m->lock);
    uint64_t lost = m->lost;
    pthread_mutex_unlock(&m->lock);
    return lost;
}

void jsp_marks_switch(struct jsp_marks *m, bool is_on)
{
    pthread_mutex_lock(&m->lock);
    m->is_off = !is_on;
    m->used = 0;
    m->lost = 0;
    for (uint32_t i = 0; is_on && i < m->n_counters; i++) {
        const struct jsp_marks_counter *c = &m->counters[i];
        if (marks_write_definition(m, i + 1, c, NULL) == 0 && c->is_set)
            marks_write_value(m, i + 1, c->bits);
    }
    pthread_mutex_unlock(&m->lock);
}
