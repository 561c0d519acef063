/* session/output.c - see output.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/embedded.h"
#include "sigsafe/names.h"

enum {
    OUTPUT_KNOWN_BYTES = (1 << JSP_ARENA_ID_BITS) / 8,
};

static void output_free(struct jsp_output *out)
{
    jsp_natives_close(&out->natives);
    free(out->known);
    free(out->pending);
    jsp_tallies_free(&out->tallies);
    free(out->frames.loops.at);
    jsp_listings_free(&out->listings);
    jsp_compact_close(out->compact);
    free(out->frames.hidden.at);
    out->known = NULL;
    out->pending = NULL;
    out->compact = NULL;
    out->frames.loops.at = NULL;
    out->frames.hidden.at = NULL;
}

int jsp_output_open(struct jsp_output *out, int fd, struct jsp_arena *arena)
{
    out->arena = arena;
    out->frames.arena = arena;
    out->frames.natives = &out->natives;
    out->listings.arena = arena;
    out->tasks.arena = arena;
    out->frames.cut_id = jsp_arena_synth(arena, "[frames cut]");
    out->frames.empty_id = jsp_arena_synth(arena, "[no VM frame]");
    out->frames.waiting_id = jsp_arena_synth(arena, JSP_STATE_WAITING_FRAME);
    out->frames.stopped_id = jsp_arena_synth(arena, JSP_STATE_STOPPED_FRAME);
    out->known = calloc(1, OUTPUT_KNOWN_BYTES);
    out->pending = malloc(JSP_OUTPUT_PENDING * sizeof *out->pending);
    int err = out->known && out->pending ? jsp_natives_open(&out->natives) : -ENOMEM;
    if (!err)
        err = fd < 0 ? jsp_writer_open_nowhere(&out->writer, getpid())
                     : jsp_writer_open(&out->writer, fd, getpid());
    if (err)
        output_free(out);
    return err;
}

int jsp_output_empty(struct jsp_output *out)
{
    int err = jsp_writer_empty(&out->writer);
    if (err)
        output_free(out);
    return err;
}

int jsp_output_pack(struct jsp_output *out)
{
    out->compact = jsp_compact_open(false);
    return out->compact ? 0 : -ENOMEM;
}

static uint64_t output_address(const struct jsp_output *out, uint32_t id)
{
    uint32_t pid_bits = (uint32_t)out->writer.pid & 0xFFF;
    return JSP_WIRE_JIT_TAG | (uint64_t)pid_bits << JSP_ARENA_ID_BITS | id;
}

static void output_kinds(struct jsp_output *out)
{
    if (out->kinds_used && jsp_writer_chunk(&out->writer, JSP_WIRE_FILE_FRAMES, out->kinds,
                                            out->kinds_used) == 0)
        out->kinds_used = 0;
}

/* Return the text of a name; if a symbol takes the place of its label, compose it. */
static const char *output_text(struct jsp_output *out, const struct jsp_label *name)
{
    struct jsp_name_symbol symbol;
    if (!jsp_name_symbol(name, &symbol) ||
        !jsp_natives_function(&out->natives, symbol.addr, out->text))
        return name->text;
    strcpy(out->text + strlen(out->text), name->text + symbol.label_len);
    return out->text;
}

/* Write a name before the first sample that uses it. */
static int output_name(struct jsp_output *out, uint32_t id)
{
    uint8_t *byte = &out->known[id / 8], bit = (uint8_t)(1u << id % 8);
    if (*byte & bit)
        return 0;
    if (out->kinds_used + JSP_EMBEDDED_PAIR > sizeof out->kinds)
        output_kinds(out);
    if (out->kinds_used + JSP_EMBEDDED_PAIR > sizeof out->kinds)
        return -ENOBUFS;
    const struct jsp_label *label = jsp_arena_label(out->arena, id);
    uint64_t addr = output_address(out, id);
    int err = jsp_writer_jitmap(&out->writer, addr, output_text(out, label));
    if (err)
        return err;
    out->kinds_used += (uint32_t)jsp_embedded_kind_put(out->kinds + out->kinds_used,
                                                       (uint32_t)addr, label->kind);
    *byte |= bit;
    return 0;
}

static struct jsp_read_state output_state(struct jsp_output *out,
                                          const struct jsp_record *record)
{
    return jsp_states_of(&out->states, &out->writer, &record->state,
                         output_address(out, record->state.what));
}

/* Add to the block what a SAMPLE frame cannot hold; see docs/capture.md. */
static void output_beside(struct jsp_output *out, const struct jsp_record *record, uint64_t labels)
{
    uint8_t *to = out->block + out->block_used, *begin = to;
    const struct jsp_merged *frames = out->frames.at;
    uint32_t n_lines = out->frames.n;

    while (n_lines && !frames[n_lines - 1].line)
        n_lines--;
    struct jsp_weight weight = { .weight = record->weight, .cpu_ns = record->cpu_ns,
                                 .cut = (uint64_t)record->cut + out->frames.cut,
                                 .n_lines = n_lines };
    to += jsp_embedded_weight_put(to, &weight);
    for (uint32_t i = 0; i < n_lines; i++)
        to += jsp_varint_put(to, frames[i].line);
    if (!out->block_count++)
        out->block_first = out->n_samples;
    out->block_used += (uint32_t)(to - begin);
    jsp_pcs_put(&out->pcs, &out->listings, &out->frames, out->n_samples);
    struct jsp_read_state state = output_state(out, record);
    jsp_states_put(&out->states, &state, out->n_samples);
    jsp_tasks_out_sample(&out->tasks, record->task, out->n_samples);
    jsp_labels_put(&out->labels, labels, out->n_samples);
}

/* Append the block as one chunk. */
static void output_block(struct jsp_output *out)
{
    struct jsp_writer_block block = { JSP_WIRE_FILE_SAMPLES, out->block_first,
                                      out->block_count, out->block, out->block_used };
    if (!out->block_count || jsp_writer_block(&out->writer, &block))
        return; /* no room: the block stays, and its samples wait for it */
    for (uint32_t i = 1; i <= out->block_waiting; i++)
        out->pending[out->n_pending - i].written = out->writer.appended;
    out->block_waiting = 0;
    out->block_count = 0;
    out->block_used = 0;
}

/* Make room in the block for one sample of n frames. Return false if there is none. */
static bool output_block_has_room(struct jsp_output *out, uint32_t n)
{
    uint32_t need = (4 + n) * JSP_VARINT_MAX;
    if (out->block_used + need > sizeof out->block)
        output_block(out);
    return out->block_used + need <= sizeof out->block;
}

/* Convert the frames to addresses; new names are written first, also that of a wait. */
static int output_addresses(struct jsp_output *out, const struct jsp_record *record)
{
    for (uint32_t i = 0; i < out->frames.n; i++) {
        const struct jsp_merged *frame = &out->frames.at[i];
        int err = frame->native ? 0 : output_name(out, frame->id);
        if (err)
            return err;
        out->addrs[i] = frame->native ? frame->ip : output_address(out, frame->id);
    }
    return record->state.what ? output_name(out, record->state.what) : 0;
}

/* Return the number of the record's labels. */
static uint64_t output_labels(struct jsp_output *out, const struct jsp_record *record)
{
    return record->n_tags ? jsp_labels_of(&out->labels, &out->writer, jsp_record_tags(record),
                                          record->n_tags)
                          : 0;
}

static int output_plain(struct jsp_output *out, const struct jsp_record *record, int32_t tid)
{
    if (!output_block_has_room(out, out->frames.n) ||
        !jsp_pcs_has_room(&out->pcs, &out->writer, out->frames.n) ||
        !jsp_states_has_room(&out->states, &out->writer) ||
        !jsp_tasks_out_has_room(&out->tasks, &out->writer) ||
        !jsp_labels_has_room(&out->labels, &out->writer))
        return -ENOBUFS;
    uint64_t labels = output_labels(out, record);
    int err = output_addresses(out, record);
    if (err)
        return err;
    struct jsp_writer_sample sample = { record->time_ns, tid, out->addrs, out->frames.n };
    err = jsp_writer_sample(&out->writer, &sample);
    if (!err)
        output_beside(out, record, labels);
    return err;
}

/* Add a compact sample. If it is not folded, it waits; see jsp_output_record. */
static int output_compact(struct jsp_output *out, const struct jsp_record *record,
                          struct jsp_output_from from)
{
    int err = output_addresses(out, record);
    if (err)
        return err;
    struct jsp_compact_sample sample = { record, &out->frames, out->addrs, from.tid, from.tally,
                                         output_state(out, record),
                                         output_labels(out, record) };
    return out->compact->fold ? jsp_output_fold(out, &sample) : jsp_output_packed(out, &sample);
}

static int output_sample(struct jsp_output *out, const struct jsp_record *record,
                         struct jsp_output_from from)
{
    jsp_frames_of(&out->frames, record);
    if (out->n_pending == JSP_OUTPUT_PENDING)
        return -ENOBUFS;
    return out->compact ? output_compact(out, record, from)
                        : output_plain(out, record, from.tid);
}

static void output_allocation(struct jsp_output *out, const struct jsp_record *record,
                              int32_t tid)
{
    struct jsp_allocs_sample sample = { record, &out->frames, out->addrs, tid,
                                        output_labels(out, record) };
    jsp_frames_of(&out->frames, record);
    if (output_addresses(out, record) || jsp_allocs_put(&out->allocs, &out->writer, &sample))
        out->allocs.n_lost++;
}

void jsp_output_task(struct jsp_output *out, int32_t tid, const struct jsp_tasks_made *made)
{
    jsp_tasks_out_record(&out->tasks, &out->writer, tid, &made->rec);
    if (made->rec.n_tags)
        jsp_labels_task(&out->labels, &out->writer, made->rec.task, made->tags, made->rec.n_tags);
}

void jsp_output_stack(struct jsp_output *out, const struct jsp_record *record)
{
    jsp_frames_of(&out->frames, record);
    for (uint32_t i = 0; i < out->frames.n; i++)
        out->lines[i] = out->frames.at[i].line;
    if (output_addresses(out, record))
        out->tasks.n_lost++;
    else
        jsp_tasks_out_stack(&out->tasks, &out->writer, record->stack,
                            &(struct jsp_tasks_frames){ out->frames.n, out->addrs, out->lines,
                                                        NULL, NULL });
}

void jsp_output_record(struct jsp_output *out, const struct jsp_record *record,
                       struct jsp_output_from from)
{
    if (record->number) {
        output_allocation(out, record, from.tid);
        return;
    }
    if (output_sample(out, record, from) != 0) {
        jsp_tallies_lose(&out->tallies, from.tally, record->weight);
        if (!out->writer.error) /* a slow pipe becomes an error now */
            out->writer.error = -EAGAIN;
        return;
    }
    if (out->compact && out->compact->fold)
        return;
    out->n_samples++;
    jsp_tallies_append(&out->tallies, from.tally, record->weight);
    uint64_t end = out->compact ? UINT64_MAX : out->writer.appended;
    out->pending[out->n_pending++] =
        (struct jsp_pending){ end, UINT64_MAX, from.tally, record->weight };
    out->block_waiting += !out->compact;
}

bool jsp_output_is_full(const struct jsp_output *out)
{
    return out->writer.used > out->writer.capacity / 2 ||
           out->n_pending > JSP_OUTPUT_PENDING / 2;
}

/* Append the code ranges that were added since the last time. */
static void output_ranges(struct jsp_output *out, const struct jsp_loops *ranges,
                          uint32_t *written)
{
    for (; *written < ranges->n; ++*written) {
        uint8_t record[JSP_EMBEDDED_PAIR];
        size_t n = jsp_embedded_loop_put(record, ranges->at[*written]);
        if (jsp_writer_chunk(&out->writer, JSP_WIRE_FILE_LOOPS, record, n) != 0)
            return;
    }
}

int jsp_output_side(struct jsp_output *out)
{
    output_ranges(out, &out->frames.loops, &out->loops_written);
    output_ranges(out, &out->frames.hidden, &out->hidden_written);
    output_kinds(out);
    output_block(out);
    jsp_allocs_write(&out->allocs, &out->writer);
    jsp_listings_write(&out->listings, &out->writer);
    jsp_pcs_write(&out->pcs, &out->writer);
    jsp_states_write(&out->states, &out->writer);
    jsp_labels_write(&out->labels, &out->writer);
    jsp_tasks_out_write(&out->tasks, &out->writer);
    return out->compact ? jsp_output_stacks(out) : 0;
}

static uint64_t output_written(const struct jsp_output *out)
{
    return out->writer.appended - out->writer.used;
}

void jsp_output_settle(struct jsp_output *out)
{
    uint64_t written = output_written(out);
    uint32_t gone = 0;
    while (gone < out->n_pending && out->pending[gone].written <= written)
        jsp_tallies_settle(&out->tallies, out->pending[gone++].tally);
    out->n_pending -= gone;
    memmove(out->pending, out->pending + gone, out->n_pending * sizeof *out->pending);
}

struct jsp_tally jsp_output_unwritten(const struct jsp_output *out)
{
    uint64_t written = output_written(out);
    struct jsp_tally sum = { .kept = 0 };
    for (uint32_t i = 0; i < out->n_pending; i++) {
        const struct jsp_pending *sample = &out->pending[i];
        bool is_there = sample->end <= written;
        sum.samples += !is_there;
        sum.kept += sample->written <= written ? 0 : sample->weight - is_there;
    }
    if (out->compact && out->compact->fold)
        jsp_output_folded(out->compact->fold, &sum);
    return sum;
}

int jsp_output_flush(struct jsp_output *out)
{
    return jsp_writer_flush(&out->writer);
}

int jsp_output_flush_patiently(struct jsp_output *out)
{
    return jsp_writer_flush_patiently(&out->writer);
}

int jsp_output_flush_for_a_moment(struct jsp_output *out)
{
    return jsp_writer_flush_for_a_moment(&out->writer);
}

/* Find where the weights of the waiting samples will be in the file after a drop. */
static void output_move_weights(struct jsp_output *out, const char *const *but)
{
    uint64_t from = UINT64_MAX, to = UINT64_MAX; /* many samples have the same */
    for (uint32_t i = 0; i < out->n_pending; i++) {
        struct jsp_pending *sample = &out->pending[i];
        if (sample->written == UINT64_MAX)
            continue;
        if (sample->written != from) {
            from = sample->written;
            to = jsp_writer_after_drop(&out->writer, but, from);
        }
        sample->written = to;
    }
}

void jsp_output_give_up(struct jsp_output *out, int err)
{
    static const char *const beside[] = { JSP_WIRE_FILE_SAMPLES, JSP_WIRE_FILE_FRAMES,
                                          JSP_WIRE_FILE_LOOPS, JSP_WIRE_FILE_LISTINGS,
                                          JSP_WIRE_FILE_PCS, JSP_WIRE_FILE_STATES,
                                          JSP_WIRE_FILE_ALLOCATIONS, JSP_WIRE_FILE_TASKS,
                                          JSP_WIRE_FILE_RUNNING, JSP_WIRE_FILE_LABELS, NULL };
    uint32_t begun = 0; /* samples of the frame that the file has begun will be written */
    uint64_t whole = output_written(out) + out->writer.begun;
    out->writer.error = err;
    output_move_weights(out, beside);
    jsp_allocs_give_up(&out->allocs, &out->writer);
    /* Otherwise they might reach the file later. Data of the embedded files may still
     * follow for samples in the file; for dropped samples they do no harm. */
    jsp_writer_drop(&out->writer, beside);
    while (begun < out->n_pending && out->pending[begun].end <= whole)
        begun++;
    uint32_t gone = out->n_pending - begun;
    for (uint32_t i = begun; i < out->n_pending; i++)
        jsp_tallies_give_up(&out->tallies, out->pending[i].tally, out->pending[i].weight);
    out->block_waiting -= gone < out->block_waiting ? gone : out->block_waiting;
    out->n_samples -= gone;
    out->n_pending = begun;
    if (out->compact)
        jsp_output_drop(out);
}

/* Settle the waiting samples, when nothing more is written: each is in the file, or lacks
 * its weight there, or is lost. */
static void output_settle_all(struct jsp_output *out)
{
    uint64_t written = output_written(out);
    jsp_output_settle(out);
    for (uint32_t i = 0; i < out->n_pending; i++) {
        const struct jsp_pending *sample = &out->pending[i];
        if (sample->written <= written)
            jsp_tallies_settle(&out->tallies, sample->tally);
        else if (sample->end <= written)
            jsp_tallies_lessen(&out->tallies, sample->tally, sample->weight);
        else
            jsp_tallies_give_up(&out->tallies, sample->tally, sample->weight);
    }
    out->n_pending = 0;
    if (out->compact)
        jsp_output_drop(out); /* empty, unless the file took nothing */
    jsp_writer_discard(&out->writer);
}

int jsp_output_finish(struct jsp_output *out)
{
    const struct {
        const char *path;
        bool is;
    } ends[] = { { JSP_WIRE_FILE_STACKS, out->compact },
                 { JSP_WIRE_FILE_SAMPLES, !out->compact },
                 { JSP_WIRE_FILE_PCS, !out->compact },
                 { JSP_WIRE_FILE_FRAMES, true },
                 { JSP_WIRE_FILE_LOOPS, true },
                 { JSP_WIRE_FILE_LISTINGS, true },
                 { JSP_WIRE_FILE_STATES, out->states.has_any },
                 { JSP_WIRE_FILE_LABELS, out->labels.has_any },
                 { JSP_WIRE_FILE_ALLOCATIONS, out->allocs.n },
                 { JSP_WIRE_FILE_TASKS, out->tasks.has_any },
                 { JSP_WIRE_FILE_RUNNING, out->tasks.has_samples },
                 { JSP_WIRE_FILE_CALLS, out->has_calls },
                 /* last: with it a reader has all */
                 { JSP_WIRE_FILE_LOSSES, true } };
    jsp_natives_refresh(&out->natives, &out->writer, JSP_NATIVES_LAST);
    /* a failure shows again in the flush */
    jsp_natives_bundle(&out->natives, &out->writer);
    while (jsp_listings_write(&out->listings, &out->writer) == -ENOBUFS &&
           jsp_writer_flush_patiently(&out->writer) == 0)
        continue;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i].is)
            jsp_writer_chunk_end(&out->writer, ends[i].path);
    int err = jsp_output_flush_patiently(out);
    output_settle_all(out);
    return err ? err : out->writer.error;
}

void jsp_output_renew(struct jsp_output *out)
{
    memset(out->known, 0, OUTPUT_KNOWN_BYTES);
    out->n_pending = out->kinds_used = 0;
    out->n_samples = out->block_first = 0;
    out->block_count = out->block_used = out->block_waiting = 0;
    out->loops_written = out->hidden_written = 0;
    out->has_calls = false;
    jsp_listings_renew(&out->listings);
    jsp_pcs_drop(&out->pcs);
    memset(&out->states, 0, sizeof out->states);
    jsp_labels_renew(&out->labels);
    out->allocs.n = out->allocs.n_lost = out->allocs.first = 0;
    out->allocs.count = out->allocs.used = 0;
    memset(&out->tasks, 0, sizeof out->tasks);
    out->tasks.arena = out->arena;
    jsp_tallies_renew(&out->tallies);
}

int jsp_output_close(struct jsp_output *out)
{
    int err = jsp_writer_close(&out->writer);
    output_free(out);
    return err;
}

void jsp_output_abandon(struct jsp_output *out)
{
    jsp_writer_abandon(&out->writer);
    free(out->known);
    free(out->pending);
    out->known = NULL;
    out->pending = NULL;
}
