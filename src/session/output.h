/* session/output.h - the output of a session: frames and embedded files from records.
 *
 * One thread at a time: the drain, or the thread that holds the session if there is no
 * drain. A sample that cannot be appended is counted as lost in the thread's tally. A
 * sample that was appended but never reached the file is counted as lost at close.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_OUTPUT_H
#define JSP_SESSION_OUTPUT_H

#include "capture/varint.h"
#include "capture/writer.h"
#include "allocs.h"
#include "compact.h"
#include "frames.h"
#include "labels.h"
#include "listing.h"
#include "natives.h"
#include "states.h"
#include "sigsafe/arena.h"
#include "tally.h"
#include "tasks/write.h"

enum {
    JSP_OUTPUT_BLOCK = 1 << 15,   /* bytes of jsprof/samples before they become a chunk */
    JSP_OUTPUT_LEAST = 40,        /* bytes of the smallest SAMPLE frame */
    JSP_OUTPUT_PENDING = JSP_WRITER_BYTES / JSP_OUTPUT_LEAST + 1,
};

/* A sample in the writer's buffer. */
struct jsp_pending {
    uint64_t end;  /* offset of its end in the capture; UINT64_MAX: in no frame yet */
    uint64_t written; /* the same for its weight; a sample without one counts as 1 */
    uint32_t tally;
    uint32_t weight;
};

struct jsp_output {
    struct jsp_writer writer;
    const struct jsp_arena *arena; /* borrowed */
    struct jsp_frames frames;
    struct jsp_natives natives;
    struct jsp_listings listings;
    struct jsp_pcs pcs;
    struct jsp_states states;
    struct jsp_labels labels;
    struct jsp_allocs allocs;
    struct jsp_tasks_out tasks;
    struct jsp_compact *compact;   /* owned; NULL: samples become SAMPLE frames */
    uint8_t *known;                /* owned: bitmap of ids that have a JITMAP */
    struct jsp_tallies tallies;
    struct jsp_pending *pending;   /* owned */
    uint32_t n_pending;
    uint64_t n_samples;            /* appended, as frames or to the compact block */
    uint64_t block_first;          /* ordinal of the first sample in `block` */
    uint32_t block_count;
    uint32_t block_used;           /* bytes */
    uint32_t block_waiting;        /* the last samples of the block, which wait */
    uint32_t kinds_used;
    uint32_t loops_written, hidden_written;
    bool has_calls;                /* part of jsprof/calls was appended */
    uint8_t block[JSP_OUTPUT_BLOCK];
    uint8_t kinds[4096];
    char text[JSP_LABEL_MAX + JSP_SYMBOL_NAME]; /* scratch space for one name */
    uint64_t addrs[JSP_FRAMES_KEPT];
    uint32_t lines[JSP_FRAMES_KEPT]; /* of a stack for tasks */
};

/* Begin the file on `fd`, which the output then owns; *out is zeroed memory. Return 0,
 * -ENOMEM or an error of jsp_writer_open. */
int jsp_output_open(struct jsp_output *out, int fd, struct jsp_arena *arena);

/* Empty a regular file, after open. On an error nothing is open, and `fd` is the
 * caller's. */
int jsp_output_empty(struct jsp_output *out);

/* Choose the compact form of samples, before open. Return 0 or -ENOMEM. */
int jsp_output_pack(struct jsp_output *out);

struct jsp_output_from {
    uint32_t tally;
    int32_t tid;
};

/* Append a sample, or count its loss. */
void jsp_output_record(struct jsp_output *out, const struct jsp_record *record,
                       struct jsp_output_from from);

/* Append a record of a thread's tasks, with the labels of a task. */
void jsp_output_task(struct jsp_output *out, int32_t tid, const struct jsp_tasks_made *made);

/* Append the stack of a record, for tasks that were made on it. */
void jsp_output_stack(struct jsp_output *out, const struct jsp_record *record);

/* Return true if the buffer should be flushed before more samples come. */
bool jsp_output_is_full(const struct jsp_output *out);

/* Append the collected data of the embedded files. Return 0, or -ENOBUFS if not all
 * samples could be appended. */
int jsp_output_side(struct jsp_output *out);

/* Write the buffer. Return 0 or a negative errno. */
int jsp_output_flush(struct jsp_output *out);

/* Do the same, but give a slow pipe some time. */
int jsp_output_flush_patiently(struct jsp_output *out);

/* Do the same, but give a slow pipe a moment. */
int jsp_output_flush_for_a_moment(struct jsp_output *out);

/* After a flush, with the session's lock again: mark the samples in the file as
 * written. */
void jsp_output_settle(struct jsp_output *out);

/* Drop all waiting samples for this reason, and count them as lost. */
void jsp_output_give_up(struct jsp_output *out, int err);

/* Return how many of the waiting samples are not in the file, and their expirations
 * (`kept`), as of the last flush. */
struct jsp_tally jsp_output_unwritten(const struct jsp_output *out);

/* Complete the embedded files. Afterwards nothing waits, and the tallies are final.
 * Return 0 or the last error of writing. */
int jsp_output_finish(struct jsp_output *out);

/* Forget what the last file holds, after finish: its writer, names of addresses and compact form
 * have been replaced. */
void jsp_output_renew(struct jsp_output *out);

/* Close the descriptor, after finish. */
int jsp_output_close(struct jsp_output *out);

/* -- output_compact.c: the compact form, for output.c */

/* Add a sample to the block of jsprof/stacks, where it waits like others. Return 0, -ENOBUFS
 * or -ENOMEM. */
int jsp_output_packed(struct jsp_output *out, const struct jsp_compact_sample *sample);

/* Add a sample to its row of the fold, and count it, also if there is no room for its stack.
 * Return 0, -ENOBUFS or -ENOMEM. */
int jsp_output_fold(struct jsp_output *out, const struct jsp_compact_sample *sample);

/* Append the rows of the fold, if there is one, and the block. Return 0 or -ENOBUFS. */
int jsp_output_stacks(struct jsp_output *out);

/* Add what the fold holds to the sum. */
void jsp_output_folded(const struct jsp_fold *fold, struct jsp_tally *sum);

/* Drop the block, and count the samples of the fold as lost. */
void jsp_output_drop(struct jsp_output *out);

/* In the child of a fork: close without writing a byte, and free the memory that is
 * constant since open; another thread may have been changing the rest. */
void jsp_output_abandon(struct jsp_output *out);

#endif
