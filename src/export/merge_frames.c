/* export/merge_frames.c - writes the frames of one capture into another.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>

#include "analyze/addresses.h"
#include "merge_work.h"

enum { MERGE_NAMES_FULL = JSP_WIRE_MAX_FRAME / 2 };

static int merge_sample(struct merge_work *w)
{
    struct jsp_sample s;
    if (!jsp_samples_take(&w->samples, &w->in, &s))
        return 0;
    /* Add what the frame cannot hold. Rows refer to listings, which only the first input
     * keeps. */
    const struct jsp_profile *p = w->m->inputs[w->input];
    jsp_sample_blocks_weight(&w->blocks, p, &s, w->m->samples);
    if (s.state.name)
        s.state.name = (uint32_t)merge_address(w, JSP_WIRE_JIT_TAG | s.state.name);
    jsp_sample_blocks_state(&w->blocks, &s.state, w->m->samples);
    jsp_sample_blocks_task(&w->blocks, merge_task(w, s.task), w->m->samples);
    jsp_sample_blocks_labels(&w->blocks, merge_label(w, s.labels), w->m->samples);
    if (w->input == 0)
        jsp_sample_blocks_rows(&w->blocks, w->rows,
                               jsp_sample_blocks_rows_of(p, &w->pcs, &s, w->rows),
                               w->m->samples);
    merge_begin(w, JSP_WIRE_SAMPLE);
    jsp_encode_sample(&w->out, s.body.tid, s.body.n_addrs);
    struct jsp_addresses all;
    uint64_t addr, line;
    jsp_addresses_of_sample(&all, w->m->inputs[w->input], &s);
    while (jsp_addresses_next(&all, &addr, &line))
        jsp_encode_u64(&w->out, merge_address(w, addr));
    merge_end(w);
    w->m->samples++;
    return 0;
}

static int merge_map(struct merge_work *w)
{
    struct jsp_read_map map;
    if (!jsp_read_map(&w->cursor, &w->in, &map))
        return 0;
    merge_begin(w, JSP_WIRE_MAP);
    jsp_encode_map(&w->out, &map);
    merge_end(w);
    return 0;
}

static int merge_process(struct merge_work *w)
{
    struct jsp_read_text command;
    jsp_read_process(&w->cursor, &w->in, &command);
    merge_begin(w, JSP_WIRE_PROCESS);
    jsp_encode_text(&w->out, command);
    merge_end(w);
    return 0;
}

static int merge_fork(struct merge_work *w)
{
    int32_t child;
    if (!jsp_read_fork(&w->cursor, &w->in, &child))
        return 0;
    merge_begin(w, JSP_WIRE_FORK);
    jsp_encode_fork(&w->out, merge_pid(w, child));
    merge_end(w);
    return 0;
}

/* Write the names of a JITMAP again. A name without a terminator needs one byte more than
 * it had, so a large frame is split. */
static int merge_names(struct merge_work *w)
{
    struct jsp_read_names names;
    struct jsp_read_text name;
    uint64_t addr;
    uint32_t n = 0; /* names in the frame begun */
    if (!jsp_read_names(&w->cursor, &w->in, &names))
        return 0;
    while (jsp_read_name(&w->cursor, &w->in, &names, &addr, &name)) {
        if (n && w->out.used + name.len > MERGE_NAMES_FULL) {
            merge_end(w);
            n = 0;
        }
        if (!n++) {
            merge_begin(w, JSP_WIRE_JITMAP);
            jsp_encode_names(&w->out);
        }
        jsp_encode_name(&w->out, merge_address(w, addr), name);
    }
    if (n)
        merge_end(w);
    return 0;
}

/* Write the counters of a CTRDEF or the values of a CTRSET, each in a frame of its
 * own. */
static int merge_counters(struct merge_work *w)
{
    struct jsp_read_counters all;
    struct jsp_read_counter c = { 0 };
    if (!jsp_read_counters(&w->cursor, &w->in, &all))
        return 0;
    while (jsp_read_counter(&w->cursor, &w->in, &all, &c)) {
        c.id = (uint32_t)merge_number(w, MERGE_COUNTER, c.id);
        merge_begin(w, w->in.type);
        if (w->in.type == JSP_WIRE_CTRDEF)
            jsp_encode_counter(&w->out, &c);
        else
            jsp_encode_value(&w->out, c.id, c.bits);
        merge_end(w);
    }
    return 0;
}

static int merge_mark(struct merge_work *w)
{
    struct jsp_read_mark mark;
    if (!jsp_read_mark(&w->cursor, &w->in, &mark))
        return 0;
    merge_begin(w, JSP_WIRE_MARK);
    jsp_encode_mark(&w->out, &mark);
    merge_end(w);
    return 0;
}

/* Write a METADATA or LOG frame. The later inputs' "jsprof." metadata describe a whole
 * recording, so they are not true of the merged one and are left out. */
static int merge_pair(struct merge_work *w)
{
    bool is_log = w->in.type == JSP_WIRE_LOG;
    const uint8_t *severity = w->in.at + sizeof(struct jsp_wire_frame);
    struct jsp_read_pair pair;
    if (!jsp_read_pair(&w->cursor, &w->in, &pair))
        return 0;
    if (!is_log && w->input && pair.key.len >= 7 && memcmp(pair.key.at, "jsprof.", 7) == 0)
        return 0;
    merge_begin(w, w->in.type);
    if (is_log)
        jsp_encode_log(&w->out, jsp_read_u16(w->cursor.capture, severity), &pair);
    else
        jsp_encode_metadata(&w->out, &pair);
    merge_end(w);
    return 0;
}

/* offsets: 24 addr, 32 size, 40 tid, 44 n, 48 addrs */
static int merge_allocation(struct merge_work *w)
{
    const struct jsp_read *r = w->cursor.capture;
    const uint8_t *at = w->in.at;
    if (w->in.len < 48)
        return 0;
    w->n_allocations += jsp_read_is_allocation(r, &w->in);
    uint32_t n = jsp_read_u16(r, at + 44), room = (w->in.len - 48) / 8;
    n = n < room ? n : room;
    merge_begin(w, JSP_WIRE_ALLOCATION);
    jsp_encode_allocation(&w->out, &(struct jsp_encode_allocation){
                                       jsp_read_u64(r, at + 24), (int64_t)jsp_read_u64(r, at + 32),
                                       (int32_t)jsp_read_u32(r, at + 40), n });
    for (uint32_t i = 0; i < n; i++)
        jsp_encode_u64(&w->out, merge_address(w, jsp_read_u64(r, at + 48 + 8 * i)));
    merge_end(w);
    return 0;
}

/* offsets: 24 layer, 28 and 30 lengths of two texts, 32 texts */
static int merge_overlay(struct merge_work *w)
{
    const struct jsp_read *r = w->cursor.capture;
    const uint8_t *at = w->in.at;
    if (w->in.len < 32)
        return 0;
    merge_begin(w, JSP_WIRE_OVERLAY);
    jsp_encode_put(&w->out, at + 24, 4);
    jsp_encode_u16(&w->out, jsp_read_u16(r, at + 28));
    jsp_encode_u16(&w->out, jsp_read_u16(r, at + 30));
    jsp_encode_put(&w->out, at + 32, w->in.len - 32);
    merge_end(w);
    return 0;
}

static int merge_bare(struct merge_work *w)
{
    merge_begin(w, w->in.type);
    merge_end(w);
    return 0;
}

int merge_frame(struct merge_work *w)
{
    static int (*const frames[16])(struct merge_work *) = {
        [JSP_WIRE_TIMESTAMP] = merge_bare,        [JSP_WIRE_SAMPLE] = merge_sample,
        [JSP_WIRE_MAP] = merge_map,               [JSP_WIRE_PROCESS] = merge_process,
        [JSP_WIRE_FORK] = merge_fork,             [JSP_WIRE_EXIT] = merge_bare,
        [JSP_WIRE_JITMAP] = merge_names,          [JSP_WIRE_CTRDEF] = merge_counters,
        [JSP_WIRE_CTRSET] = merge_counters,            [JSP_WIRE_MARK] = merge_mark,
        [JSP_WIRE_METADATA] = merge_pair,         [JSP_WIRE_LOG] = merge_pair,
        [JSP_WIRE_FILE_CHUNK] = merge_file,       [JSP_WIRE_ALLOCATION] = merge_allocation,
        [JSP_WIRE_OVERLAY] = merge_overlay,
    };
    return frames[w->in.type](w);
}
