/* tasks/write.c - see write.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "write.h"

#include "capture/embedded.h"

enum {
    WRITE_WHAT = JSP_TASKS_RECORD + 2 * JSP_LABEL_MAX,
    WRITE_WHATS_MOST = JSP_TASKS_WHATS / 4 * 3,
};

static void write_block(struct jsp_tasks_out *out, struct jsp_writer *w)
{
    if (out->used && jsp_writer_chunk(w, JSP_WIRE_FILE_TASKS, out->block, out->used) == 0) {
        out->base = (struct jsp_tasks_base){ 0 };
        out->tid = 0;
        out->used = 0;
    }
}

static void write_put(struct jsp_tasks_out *out, const struct jsp_tasks_record *r)
{
    out->used += (uint32_t)jsp_tasks_record_put(out->block + out->used, &out->base, r);
    out->has_any = true;
}

/* Make room for `bytes` bytes of records of a thread; 0: of no thread. Return false if there
 * is none. */
static bool write_begin(struct jsp_tasks_out *out, struct jsp_writer *w, int32_t tid,
                        size_t bytes)
{
    bytes += 2 * JSP_TASKS_RECORD;
    if (out->used + bytes > sizeof out->block)
        write_block(out, w);
    if (out->used + bytes > sizeof out->block) {
        out->n_lost++;
        return false;
    }
    if (out->first)
        write_put(out, &(struct jsp_tasks_record){ JSP_WIRE_TASKS_FIRST, .first = out->first });
    out->first = 0;
    if (tid && tid != out->tid)
        write_put(out, &(struct jsp_tasks_record){ JSP_WIRE_TASKS_THREAD, .tid = tid });
    out->tid = tid ? tid : out->tid;
    return true;
}

/* -- Names -------------------------------------------------------------------- */

static struct jsp_tasks_name *write_find(struct jsp_tasks_out *out, uint32_t kind, uint32_t name)
{
    uint64_t hash = ((uint64_t)kind << 32 | name) * 0x9E3779B97F4A7C15u;
    uint32_t at = (uint32_t)(hash >> 40);
    if (out->n_whats >= WRITE_WHATS_MOST) {
        memset(out->whats, 0, sizeof out->whats);
        out->n_whats = 0;
    }
    for (;; at++) { /* the table is never full */
        struct jsp_tasks_name *what = &out->whats[at % JSP_TASKS_WHATS];
        if (!what->number || (what->kind == kind && what->name == name))
            return what;
    }
}

static struct jsp_read_text write_text(const struct jsp_tasks_out *out, uint32_t id)
{
    const struct jsp_label *label = jsp_arena_label(out->arena, id);
    return id ? (struct jsp_read_text){ label->text, label->len } : (struct jsp_read_text){ "", 0 };
}

/* Return the number of a kind and a name. A new one is written first; there must be room. */
static uint32_t write_what(struct jsp_tasks_out *out, uint32_t kind, uint32_t name)
{
    if (!kind && !name)
        return 0;
    struct jsp_tasks_name *what = write_find(out, kind, name);
    if (what->number)
        return what->number;
    *what = (struct jsp_tasks_name){ kind, name, ++out->last_what };
    out->n_whats++;
    const struct jsp_tasks_record r = {
        JSP_WIRE_TASKS_WHAT,
        .what = { what->number, write_text(out, kind), write_text(out, name) },
    };
    write_put(out, &r);
    return what->number;
}

/* -- Records ------------------------------------------------------------------ */

void jsp_tasks_out_record(struct jsp_tasks_out *out, struct jsp_writer *w, int32_t tid,
                          const struct jsp_tasks_rec *rec)
{
    bool is_new = rec->tag == JSP_TASKS_NEW;
    uint64_t duration = rec->end_ns > rec->begin_ns ? rec->end_ns - rec->begin_ns : 0;
    struct jsp_tasks_record r = { JSP_WIRE_TASKS_DONE, .done = { rec->task, rec->begin_ns } };
    if (is_new && rec->depth)
        tid = (int32_t)rec->depth; /* another thread may have written it */
    if (!write_begin(out, w, tid, JSP_TASKS_RECORD + (is_new ? WRITE_WHAT : 0)))
        return;
    if (is_new)
        r = (struct jsp_tasks_record){
            JSP_WIRE_TASKS_NEW,
            .made = { rec->task, rec->begin_ns, rec->parent,
                      write_what(out, rec->kind, rec->name), rec->stack },
        };
    if (rec->tag == JSP_TASKS_READY || rec->tag == JSP_TASKS_DUE)
        r = (struct jsp_tasks_record){
            rec->tag == JSP_TASKS_DUE ? JSP_WIRE_TASKS_DUE : JSP_WIRE_TASKS_READY,
            .ready = { rec->task, rec->begin_ns, rec->end_ns,
                       (uint64_t)rec->stack << 32 | rec->depth },
        };
    if (rec->tag == JSP_TASKS_RUN)
        r = (struct jsp_tasks_record){
            JSP_WIRE_TASKS_RUN,
            .run = { rec->task, rec->begin_ns, duration, rec->depth, rec->flags },
        };
    if (rec->tag == JSP_TASKS_TURN)
        r = (struct jsp_tasks_record){
            JSP_WIRE_TASKS_TURN, .turn = { rec->begin_ns, duration, rec->task, rec->depth },
        };
    write_put(out, &r);
}

void jsp_tasks_out_stack(struct jsp_tasks_out *out, struct jsp_writer *w, uint64_t number,
                         const struct jsp_tasks_frames *frames)
{
    if (!write_begin(out, w, 0, JSP_TASKS_RECORD + (size_t)frames->n * JSP_TASKS_FRAME))
        return;
    write_put(out, &(struct jsp_tasks_record){ JSP_WIRE_TASKS_STACK,
                                               .stack = { number, *frames } });
}

void jsp_tasks_out_open(struct jsp_tasks_out *out, struct jsp_writer *w, int32_t tid,
                        const struct jsp_running_copy *open)
{
    uint64_t now = jsp_now_ns(CLOCK_MONOTONIC);
    for (uint32_t i = 0; i < open->n; i++) {
        const struct jsp_tasks_rec rec = {
            .tag = JSP_TASKS_RUN, .flags = JSP_WIRE_RUN_OPEN, .depth = i,
            .task = open->at[i].task, .begin_ns = open->at[i].begin_ns, .end_ns = now,
        };
        jsp_tasks_out_record(out, w, tid, &rec);
    }
}

/* -- The tasks of samples ----------------------------------------------------- */

static void write_samples(struct jsp_tasks_out *out, struct jsp_writer *w)
{
    struct jsp_writer_block block = { JSP_WIRE_FILE_RUNNING, out->sample_first, out->n_samples,
                                      out->samples, out->samples_used };
    if (!out->n_samples || jsp_writer_block(w, &block))
        return;
    out->n_samples = out->samples_used = 0;
    out->sample_task = 0;
}

bool jsp_tasks_out_has_room(struct jsp_tasks_out *out, struct jsp_writer *w)
{
    if (out->samples_used + JSP_VARINT_MAX > sizeof out->samples)
        write_samples(out, w);
    return out->samples_used + JSP_VARINT_MAX <= sizeof out->samples;
}

void jsp_tasks_out_sample(struct jsp_tasks_out *out, uint64_t task, uint64_t ordinal)
{
    if (!out->n_samples && !task)
        return; /* a sample before the block has no task either */
    if (!out->n_samples++)
        out->sample_first = ordinal;
    out->samples_used += (uint32_t)jsp_running_put(out->samples + out->samples_used,
                                                   &out->sample_task, task);
    out->has_samples = true;
}

void jsp_tasks_out_write(struct jsp_tasks_out *out, struct jsp_writer *w)
{
    write_block(out, w);
    write_samples(out, w);
}
