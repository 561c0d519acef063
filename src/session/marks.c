/* session/marks.c - see marks.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/wire.h"

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

static uint64_t marks_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Room for a frame, zeroed but for its header. With `lock` held. -ENOMEM, -ENOBUFS. */
static int marks_frame(struct jsp_marks *m, enum jsp_wire_type type, size_t bytes,
                       void **out)
{
    size_t len = (bytes + JSP_WIRE_ALIGN - 1) & ~(size_t)(JSP_WIRE_ALIGN - 1);
    if (!m->queue)
        m->queue = malloc(JSP_MARKS_QUEUE);
    if (!m->queue || m->used + len > JSP_MARKS_QUEUE) {
        m->lost++;
        return m->queue ? -ENOBUFS : -ENOMEM;
    }
    struct jsp_wire_frame *frame = (void *)(m->queue + m->used);
    memset(frame, 0, len);
    frame->len = (uint16_t)len;
    frame->cpu = -1;
    frame->pid = m->pid;
    frame->time = (int64_t)marks_now();
    frame->type = (uint8_t)type;
    m->used += (uint32_t)len;
    *out = frame;
    return 0;
}

/* Never cut inside a character of UTF-8; a 0 always follows. */
static void marks_text(char *to, size_t width, const char *text)
{
    size_t n = text ? strnlen(text, width) : 0;
    if (n == width)
        for (n--; n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80;)
            n--;
    if (n)
        memcpy(to, text, n);
    to[n] = 0;
}

static int marks_mark_locked(struct jsp_marks *m, const struct jsp_marks_mark *mark)
{
    size_t message = mark->message ? strnlen(mark->message, JSP_MARKS_MESSAGE) : 0;
    void *at;
    int err =
        marks_frame(m, JSP_WIRE_MARK, sizeof(struct jsp_wire_mark) + message + 1, &at);
    if (err)
        return err;
    struct jsp_wire_mark *to = at;
    to->frame.time = (int64_t)mark->begin_ns;
    to->duration = (int64_t)(mark->end_ns - mark->begin_ns);
    marks_text(to->group, sizeof to->group, mark->group);
    marks_text(to->name, sizeof to->name, mark->name);
    marks_text((char *)(to + 1), message + 1, mark->message);
    return 0;
}

int jsp_marks_mark(struct jsp_marks *m, const struct jsp_marks_mark *mark)
{
    struct jsp_marks_mark full = *mark;
    if (!full.end_ns)
        full.end_ns = marks_now();
    if (!full.begin_ns || full.begin_ns > full.end_ns)
        full.begin_ns = full.end_ns;
    pthread_mutex_lock(&m->lock);
    int err = marks_mark_locked(m, &full);
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

static int marks_define(struct jsp_marks *m, const struct jsp_marks_counter *c,
                        const char *what)
{
    void *at;
    if (m->n_counters == JSP_MARKS_COUNTERS)
        return -ENOSPC;
    struct jsp_marks_counter *more =
        realloc(m->counters, (m->n_counters + 1) * sizeof *more);
    if (!more)
        return -ENOMEM;
    m->counters = more;
    int err = marks_frame(m, JSP_WIRE_CTRDEF, sizeof(struct jsp_wire_ctrdef), &at);
    if (err)
        return err;
    struct jsp_wire_ctrdef *to = at;
    to->n = 1;
    marks_text(to->counter.group, sizeof to->counter.group, c->group);
    marks_text(to->counter.name, sizeof to->counter.name, c->name);
    marks_text(to->counter.what, sizeof to->counter.what, what);
    to->counter.id_and_type = jsp_wire_ctr_id(m->n_counters + 1, c->is_real);
    more[m->n_counters++] = *c;
    return (int)m->n_counters;
}

void jsp_marks_take_over(struct jsp_marks *m, struct jsp_marks *parents)
{
    if (pthread_mutex_trylock(&parents->lock) != 0)
        return;
    for (uint32_t i = 0; i < parents->n_counters; i++) {
        struct jsp_marks_counter c = parents->counters[i];
        c.is_set = false;
        if (marks_define(m, &c, NULL) < 0)
            break;
    }
    pthread_mutex_unlock(&parents->lock);
}

int jsp_marks_counter(struct jsp_marks *m, const struct jsp_marks_definition *d)
{
    struct jsp_marks_counter c = { .is_real = d->is_real };
    marks_text(c.group, sizeof c.group, d->group);
    marks_text(c.name, sizeof c.name, d->name);
    pthread_mutex_lock(&m->lock);
    int id = marks_find(m, &c);
    if (id == 0)
        id = marks_define(m, &c, d->what);
    pthread_mutex_unlock(&m->lock);
    return id;
}

static int marks_set_locked(struct jsp_marks *m, uint32_t id, uint64_t bits)
{
    struct jsp_marks_counter *c = &m->counters[id - 1];
    void *at;
    if (c->is_set && c->bits == bits)
        return 0;
    int err = marks_frame(m, JSP_WIRE_CTRSET, sizeof(struct jsp_wire_ctrset), &at);
    if (err)
        return err;
    struct jsp_wire_ctrset *to = at;
    to->n = 1;
    to->group.ids[0] = id;
    to->group.values[0] = c->bits = bits;
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

void jsp_marks_drain(struct jsp_marks *m, struct jsp_writer *w)
{
    uint32_t done = 0;
    pthread_mutex_lock(&m->lock);
    while (done < m->used) {
        const struct jsp_wire_frame *frame = (const void *)(m->queue + done);
        if (jsp_writer_copy(w, frame) < 0)
            break;
        done += frame->len;
    }
    m->used -= done;
    if (done)
        memmove(m->queue, m->queue + done, m->used);
    pthread_mutex_unlock(&m->lock);
}

void jsp_marks_give_up(struct jsp_marks *m, const struct jsp_writer *w)
{
    static const uint8_t types[] = { JSP_WIRE_MARK, JSP_WIRE_CTRSET, JSP_WIRE_CTRDEF };
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < sizeof types; i++)
        m->lost += jsp_writer_waiting(w, types[i]);
    for (uint32_t at = 0; at < m->used; m->lost++)
        at += ((const struct jsp_wire_frame *)(const void *)(m->queue + at))->len;
    m->used = 0;
    pthread_mutex_unlock(&m->lock);
}

uint64_t jsp_marks_lost(struct jsp_marks *m)
{
    pthread_mutex_lock(&m->lock);
    uint64_t lost = m->lost;
    pthread_mutex_unlock(&m->lock);
    return lost;
}
