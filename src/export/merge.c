/* export/merge.c - joins captures: times and the order of everything.
 *
 * SPDX-License-Identifier: MIT
 */
#include "merge.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "merge_work.h"

enum { MERGE_SAME_BOOT_NS = 2000000000 };

const char *jsp_merge_refuses(const struct jsp_profile *a, const struct jsp_profile *b)
{
    if (a->unit != b->unit)
        return "one counts CPU time, elapsed time or samples, the other does not";
    if (a->unit == JSP_VALUE_WALL && a->period_ns != b->period_ns)
        return "they were recorded at different rates of elapsed time";
    if (!a->version[0] != !b->version[0])
        return "one has callers at their call, the other at the address of their return";
    return NULL;
}

/* -- Times ------------------------------------------------------------------ */

/* Return the time of day, in ns, at which the capture's clock was zero; 0 if it is not
 * known. */
static int64_t merge_epoch(const struct jsp_profile *p)
{
    struct tm tm = { 0 };
    const char *end = strptime(p->capture->capture_time, "%Y-%m-%dT%H:%M:%S", &tm);
    int64_t second = end ? (int64_t)timegm(&tm) : 0;
    if (second <= 0 || second > INT64_MAX / 2000000000 || p->capture->time <= 0)
        return 0;
    return second * 1000000000 - p->capture->time;
}

static int64_t merge_shift(struct merge_work *w)
{
    int64_t first = merge_epoch(w->m->inputs[0]);
    int64_t mine = merge_epoch(w->m->inputs[w->input]);
    int64_t apart = first && mine ? mine - first : 0;
    if (apart < MERGE_SAME_BOOT_NS && apart > -MERGE_SAME_BOOT_NS)
        return 0;
    w->m->moved++;
    return apart;
}

static int64_t merge_moved(struct merge_work *w, int64_t time)
{
    __builtin_add_overflow(time, w->shift, &time);
    return time;
}

static void merge_head(struct merge_work *w)
{
    const struct jsp_profile *first = w->m->inputs[0];
    struct jsp_wire_header head = {
        .magic = JSP_WIRE_MAGIC,
        .version = JSP_WIRE_VERSION,
        .little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
        .time = first->capture->time,
        .end_time = first->capture->end_time,
    };
    memcpy(head.capture_time, first->capture->capture_time, sizeof head.capture_time);
    for (w->input = 1; w->input < w->m->n; w->input++) {
        const struct jsp_read *c = w->m->inputs[w->input]->capture;
        w->shift = merge_shift(w);
        int64_t time = merge_moved(w, c->time), end = merge_moved(w, c->end_time);
        head.time = time < head.time ? time : head.time;
        head.end_time = !c->end_time || !head.end_time ? 0
                        : end > head.end_time          ? end
                                                       : head.end_time;
    }
    w->m->moved = 0; /* each capture is counted when it is merged */
    jsp_sink_put(w->m->out, &head, sizeof head);
}

static void merge_side(void *work, const char *path, const void *data, size_t n)
{
    struct merge_work *w = work;
    w->has_samples |= strcmp(path, JSP_WIRE_FILE_SAMPLES) == 0;
    w->has_pcs |= strcmp(path, JSP_WIRE_FILE_PCS) == 0;
    w->has_states |= strcmp(path, JSP_WIRE_FILE_STATES) == 0;
    w->has_running |= strcmp(path, JSP_WIRE_FILE_RUNNING) == 0;
    w->has_labels |= strcmp(path, JSP_WIRE_FILE_LABELS) == 0;
    merge_chunk(w, path, data, n, false);
}

/* -- All of it -------------------------------------------------------------- */

int jsp_merge_write(struct jsp_merge *m)
{
    struct merge_work *w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    w->m = m;
    jsp_sample_blocks_init(&w->blocks, merge_side, w);
    m->samples = 0;
    m->renumbered = m->left_out = m->moved = 0;
    int err = jsp_hash_init(&w->by_from, 0);
    if (err == 0)
        err = jsp_hash_init(&w->by_pid, 0);
    if (err == 0)
        merge_head(w);
    for (w->input = 0; err == 0 && w->input < m->n; w->input++) {
        struct jsp_profile *p = m->inputs[w->input];
        w->shift = merge_shift(w);
        w->allocations_before = w->n_allocations;
        merge_tasks_begin(w);
        jsp_read_start(&w->cursor, p->capture, NULL);
        jsp_samples_start(&w->samples, p, NULL);
        jsp_bytecode_pcs_start(&w->pcs, p->capture, NULL);
        while (err == 0 && m->out->error == 0 && jsp_read_next(&w->cursor, &w->in))
            err = merge_frame(w);
        if (w->has_failed)
            err = -ENOMEM;
    }
    if (err == 0)
        err = merge_finish(w);
    if (err == 0 && w->has_failed)
        err = -ENOMEM;
    jsp_hash_free(&w->by_from);
    jsp_hash_free(&w->by_pid);
    jsp_bytes_free(&w->text);
    free(w->numbers);
    free(w->pids);
    free(w->files);
    free(w);
    return err;
}
