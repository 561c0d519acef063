/* export/recode.c - writes a capture with its samples in another form: as SAMPLE frames, which
 * Sysprof opens, or in jsprof/stacks, which is many times smaller.
 *
 * A plain capture also has a mark for each run of a task and each turn, which Sysprof draws.
 * Every other frame is copied unchanged, in the byte order of the file. Samples keep
 * their order, and the maps and names that came after them stay after them, because the
 * meaning of an address depends on that.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/addresses.h"
#include "analyze/tasks.h"
#include "capture/encode.h"
#include "capture/pack.h"
#include "export.h"
#include "sample_blocks.h"

struct recode {
    struct jsp_profile *profile;
    struct jsp_sink *out;
    struct jsp_read_cursor cursor;
    struct jsp_read_frame in;
    struct jsp_samples samples;
    struct jsp_bytecode_pcs pcs;
    struct jsp_pack *pack;   /* owned; NULL: write SAMPLE frames and `blocks` */
    struct jsp_sample_blocks *blocks; /* owned; what SAMPLE frames cannot hold */
    uint64_t n;              /* samples written */
    int32_t pid;             /* of the last frame, like `time` */
    int64_t time;
    bool has_tasks;   /* jsprof/running is written */
    bool has_labels;  /* jsprof/labels is written */
    bool has_failed;  /* memory was missing */
    bool has_states;  /* of the input or of the output */
    bool is_complete; /* the files that are written anew had their last chunk */
    bool has_end;     /* jsprof/losses had its last chunk, with which a reader has all */
    uint64_t addrs[JSP_WIRE_MAX_ADDRS];
    uint32_t lines[JSP_WIRE_MAX_ADDRS], rows[JSP_PROFILE_DEPTH];
    struct jsp_encode frame; /* the frame being written, in `bytes` */
    uint8_t bytes[JSP_WIRE_MAX_FRAME];
};

/* -- Frames of the output, in the file's byte order --------------------------- */

static void recode_begin(struct recode *r, const struct jsp_encode_head *head)
{
    r->frame = (struct jsp_encode){ .at = r->bytes, .room = sizeof r->bytes,
                                    .swap = r->profile->capture->swap };
    jsp_encode_begin(&r->frame, head);
}

static void recode_end(struct recode *r)
{
    jsp_sink_put(r->out, r->bytes, jsp_encode_end(&r->frame));
}

/* Write a chunk of an embedded file; without data it is the last one. */
static void recode_chunk(void *recode, const char *path, const void *data, size_t n)
{
    struct recode *r = recode;
    recode_begin(r, &(struct jsp_encode_head){ r->time, r->pid, -1, JSP_WIRE_FILE_CHUNK });
    jsp_encode_chunk(&r->frame, &(struct jsp_encode_chunk){ path, n, !data });
    jsp_encode_put(&r->frame, data, n);
    recode_end(r);
}

/* -- Samples ------------------------------------------------------------------ */

/* Collect the addresses, lines and rows of all frames of the sample. */
static void recode_unfold(struct recode *r, const struct jsp_sample *s)
{
    struct jsp_addresses all;
    uint64_t line;
    uint32_t i = 0;
    jsp_addresses_of_sample(&all, r->profile, s);
    for (; i < s->body.n_addrs && jsp_addresses_next(&all, &r->addrs[i], &line); i++)
        /* larger values are not lines */
        r->lines[i] = line <= UINT32_MAX ? (uint32_t)line : 0;
    i = jsp_sample_blocks_rows_of(r->profile, &r->pcs, s, r->rows);
    for (; i < s->body.n_addrs; i++)
        r->rows[i] = 0;
}

static void recode_block(struct recode *r)
{
    const uint8_t *bytes;
    size_t n = jsp_pack_block(r->pack, &bytes);
    if (n)
        recode_chunk(r, JSP_WIRE_FILE_STACKS, bytes, n);
    jsp_pack_next(r->pack);
}

static int recode_pack(struct recode *r, const struct jsp_sample *s)
{
    const struct jsp_pack_sample sample = {
        .time = r->in.time, .pid = r->in.pid, .tid = s->body.tid, .cpu = r->in.cpu,
        .n = s->body.n_addrs, .addrs = r->addrs, .lines = r->lines, .rows = r->rows,
        .known = s->weight.known, .weight = s->weight.weight,
        .cpu_ns = s->weight.cpu_ns, .cut = s->weight.cut, .state = s->state,
        .task = s->task, .labels = s->labels,
    };
    int err;
    recode_unfold(r, s);
    while ((err = jsp_pack_put(r->pack, &sample)) == -ENOBUFS)
        recode_block(r);
    return err;
}

static int recode_plain(struct recode *r, const struct jsp_sample *s)
{
    struct jsp_encode_head head = { r->in.time, r->in.pid, r->in.cpu, JSP_WIRE_SAMPLE };
    recode_unfold(r, s);
    recode_begin(r, &head);
    jsp_encode_sample(&r->frame, s->body.tid, s->body.n_addrs);
    jsp_encode_u64s(&r->frame, r->addrs, s->body.n_addrs);
    recode_end(r);
    uint32_t n = s->body.n_addrs;
    while (n && !r->rows[n - 1])
        n--;
    jsp_sample_blocks_rows(r->blocks, r->rows, n, r->n);
    jsp_sample_blocks_state(r->blocks, &s->state, r->n);
    r->has_states |= s->state.state != JSP_STATE_UNKNOWN;
    jsp_sample_blocks_task(r->blocks, s->task, r->n);
    r->has_tasks |= s->task != 0;
    jsp_sample_blocks_labels(r->blocks, s->labels, r->n);
    return jsp_sample_blocks_weight(r->blocks, r->profile, s, r->n) ? 0 : -EFBIG;
}

/* -- Marks of tasks ------------------------------------------------------------ */

/* Is the frame a mark that is written anew? */
static bool recode_is_task_mark(struct recode *r)
{
    struct jsp_read_mark m;
    return r->in.type == JSP_WIRE_MARK && jsp_read_mark(&r->cursor, &r->in, &m) &&
           jsp_read_is(m.group, JSP_WIRE_TASK_MARKS);
}

static void recode_mark(struct recode *r, int64_t begin, int32_t pid,
                        const struct jsp_read_mark *mark)
{
    recode_begin(r, &(struct jsp_encode_head){ begin, pid, -1, JSP_WIRE_MARK });
    jsp_encode_mark(&r->frame, mark);
    recode_end(r);
}

/* Write a mark for each run, named by its kind, with the name of the task as message. */
static int recode_tasks(struct recode *r)
{
    const struct jsp_read_text group = { JSP_WIRE_TASK_MARKS, sizeof JSP_WIRE_TASK_MARKS - 1 };
    const struct jsp_read_text turn = { "turn", 4 }, none = { "", 0 }, task = { "task", 4 };
    struct jsp_tasks t;
    int err = jsp_tasks_read(&t, r->profile);
    if (err < 0)
        return err;
    for (uint32_t i = 0; i < t.n_runs; i++) {
        const struct jsp_task_run *run = &t.runs[i];
        uint32_t what = run->task != JSP_TASK_NONE ? t.tasks[run->task].what : 0;
        struct jsp_read_text kind = t.whats[what].kind.len ? t.whats[what].kind : task;
        recode_mark(r, run->begin, t.threads[run->thread].pid, &(struct jsp_read_mark){
            run->duration, group, kind, t.whats[what].name });
    }
    for (uint32_t i = 0; i < t.n_turns; i++)
        recode_mark(r, t.turns[i].begin, t.threads[t.turns[i].thread].pid,
                    &(struct jsp_read_mark){ t.turns[i].duration, group, turn, none });
    jsp_tasks_free(&t);
    return 0;
}

/* -- All of it ---------------------------------------------------------------- */

/* Does the frame hold a chunk of a file that is written anew? */
static bool recode_is_ours(struct recode *r)
{
    struct jsp_read_chunk c;
    if (r->in.type != JSP_WIRE_FILE_CHUNK || !jsp_read_chunk(&r->cursor, &r->in, &c))
        return false;
    if (jsp_read_is(c.path, JSP_WIRE_FILE_STATES)) {
        jsp_sample_blocks_calls(&c, recode_chunk, r);
        r->has_states = true;
        r->is_complete |= c.is_last;
        return true;
    }
    if (jsp_read_is(c.path, JSP_WIRE_FILE_LABELS)) {
        const struct jsp_sample_numbers same = { 0, 0 };
        jsp_sample_blocks_sets(&c, &same, recode_chunk, r, &r->has_failed);
        r->has_labels = true;
        r->is_complete |= c.is_last;
        return true;
    }
    if (jsp_read_is(c.path, JSP_WIRE_FILE_LOSSES) && c.is_last && c.len == 0)
        return r->has_end = true;
    if ((!jsp_read_is(c.path, JSP_WIRE_FILE_STACKS) && !jsp_read_is(c.path, JSP_WIRE_FILE_PCS) &&
         !jsp_read_is(c.path, JSP_WIRE_FILE_SAMPLES) &&
         !jsp_read_is(c.path, JSP_WIRE_FILE_RUNNING)))
        return false;
    r->is_complete |= c.is_last;
    return true;
}

static int recode_frame(struct recode *r)
{
    r->pid = r->in.pid;
    r->time = r->in.time;
    if (r->in.type == JSP_WIRE_SAMPLE) {
        struct jsp_sample s;
        if (!jsp_samples_take(&r->samples, &r->in, &s))
            return 0; /* the defect was reported when the capture was loaded */
        int err = r->pack ? recode_pack(r, &s) : recode_plain(r, &s);
        r->n++;
        return err;
    }
    if (recode_is_ours(r) || recode_is_task_mark(r))
        return 0;
    bool defines = r->in.type == JSP_WIRE_MAP || r->in.type == JSP_WIRE_JITMAP;
    if (r->pack && defines && jsp_samples_end_epoch(&r->samples))
        recode_block(r);
    jsp_sink_put(r->out, r->in.at, r->in.len);
    return 0;
}

static int recode_all(struct recode *r)
{
    const struct jsp_read *in = r->profile->capture;
    struct jsp_wire_header head;
    memcpy(&head, in->bytes, sizeof head);
    head.index = 0; /* some writers store a frame's position there, and frames move */
    jsp_sink_put(r->out, &head, sizeof head);
    jsp_read_start(&r->cursor, in, NULL);
    jsp_samples_start(&r->samples, r->profile, NULL);
    jsp_bytecode_pcs_start(&r->pcs, in, NULL);
    int err = 0;
    while (err == 0 && r->out->error == 0 && jsp_read_next(&r->cursor, &r->in))
        err = recode_frame(r);
    if (err < 0)
        return err;
    if (r->pack)
        recode_block(r);
    else
        jsp_sample_blocks_flush(r->blocks);
    if (r->is_complete && r->pack)
        recode_chunk(r, JSP_WIRE_FILE_STACKS, NULL, 0);
    if (r->is_complete && !r->pack) {
        recode_chunk(r, JSP_WIRE_FILE_SAMPLES, NULL, 0);
        recode_chunk(r, JSP_WIRE_FILE_PCS, NULL, 0);
    }
    if (r->is_complete && r->has_states)
        recode_chunk(r, JSP_WIRE_FILE_STATES, NULL, 0);
    if (r->is_complete && r->has_tasks)
        recode_chunk(r, JSP_WIRE_FILE_RUNNING, NULL, 0);
    if (r->is_complete && r->has_labels)
        recode_chunk(r, JSP_WIRE_FILE_LABELS, NULL, 0);
    if (!r->pack)
        err = recode_tasks(r);
    if (r->has_end)
        recode_chunk(r, JSP_WIRE_FILE_LOSSES, NULL, 0);
    return r->has_failed ? -ENOMEM : err;
}

static int recode_run(struct jsp_export *e, bool is_compact)
{
    struct recode *r = calloc(1, sizeof *r);
    if (!r)
        return -ENOMEM;
    r->profile = e->profile;
    r->out = e->out;
    int err = 0;
    if (is_compact) {
        r->pack = malloc(sizeof *r->pack);
        err = r->pack ? jsp_pack_init(r->pack) : -ENOMEM;
        if (!err)
            r->pack->limit = JSP_PACK_MANY;
    } else {
        r->blocks = malloc(sizeof *r->blocks);
        err = r->blocks ? 0 : -ENOMEM;
        if (!err)
            jsp_sample_blocks_init(r->blocks, recode_chunk, r);
    }
    if (!err)
        err = recode_all(r);
    if (r->pack)
        jsp_pack_free(r->pack);
    free(r->pack);
    free(r->blocks);
    free(r);
    return err;
}

int jsp_export_syscap(struct jsp_export *e)
{
    return recode_run(e, false);
}

int jsp_export_compact(struct jsp_export *e)
{
    return recode_run(e, true);
}
