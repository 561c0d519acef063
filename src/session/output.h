/* session/output.h - from records to the frames and embedded files of a capture.
 *
 * One thread at a time: the drain's, or who holds the session when there is none.
 * What could not be appended is counted in the thread's tally and gone; what was
 * appended but never reached the file is moved there at close.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_OUTPUT_H
#define JSP_SESSION_OUTPUT_H

#include "capture/varint.h"
#include "capture/writer.h"
#include "compact.h"
#include "frames.h"
#include "listing.h"
#include "natives.h"
#include "sigsafe/arena.h"
#include "tally.h"

enum {
    JSP_OUTPUT_BLOCK = 1 << 15,   /* bytes of jsprof/samples before they become a chunk */
};

/* A sample that waits in the writer's buffer. */
struct jsp_pending {
    uint64_t end;  /* in bytes of the capture; UINT64_MAX: it is in no frame yet */
    uint64_t told; /* the same, of its weight, without which it stands for one expiration */
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
    struct jsp_compact *compact;   /* owned; NULL: samples become SAMPLE frames */
    uint8_t *known;                /* owned: bitmap of ids that have a JITMAP */
    struct jsp_tallies tallies;
    struct jsp_pending *pending;   /* owned */
    uint32_t n_pending;
    uint64_t n_samples;            /* appended, as frames or to the compact block */
    uint64_t block_first;          /* ordinal of the first in `block` */
    uint32_t block_count;
    uint32_t block_used;           /* bytes */
    uint32_t block_waiting;        /* of its samples, those that wait, the last ones */
    uint32_t kinds_used;
    uint32_t loops_told, hidden_told;
    bool has_calls;                /* something of jsprof/calls was appended */
    uint8_t block[JSP_OUTPUT_BLOCK];
    uint8_t kinds[4096];
    uint64_t addrs[JSP_FRAMES_KEPT];
};

/* Over zeroed memory: begin the file on `fd`, which is then owned. -ENOMEM, ... */
int jsp_output_open(struct jsp_output *out, int fd, struct jsp_arena *arena);

/* After open: what a regular file holds goes. Errno: nothing is open, and `fd` the caller's. */
int jsp_output_empty(struct jsp_output *out);

/* Before open: samples shall have the compact form. -ENOMEM. */
int jsp_output_pack(struct jsp_output *out);

struct jsp_output_from {
    uint32_t tally;
    int32_t tid;
};

/* Append a sample. */
void jsp_output_record(struct jsp_output *out, const struct jsp_record *record,
                       struct jsp_output_from from);

/* True: the buffer should be flushed before more samples come. */
bool jsp_output_is_full(const struct jsp_output *out);

/* Append what is gathered for the embedded files. -ENOBUFS: not all samples are among
 * what was appended. */
int jsp_output_side(struct jsp_output *out);

/* Write what waits. 0 or a negative errno. */
int jsp_output_flush(struct jsp_output *out);

/* The same, but a slow pipe is given some time, or a moment. */
int jsp_output_flush_patiently(struct jsp_output *out);
int jsp_output_flush_for_a_moment(struct jsp_output *out);

/* After a flush, with the session's lock again: the samples that are in the file wait no
 * more. */
void jsp_output_settle(struct jsp_output *out);

/* What waits now will not be written, for this reason: give it back to `lost`. */
void jsp_output_give_up(struct jsp_output *out, int err);

/* Of the samples that wait, as of the last flush: how many are not in the file, and how many
 * expirations (`kept`). */
struct jsp_tally jsp_output_unwritten(const struct jsp_output *out);

/* Complete the embedded files. After it nothing waits, and the tallies say what became of each
 * sample. Or the last error of writing. */
int jsp_output_finish(struct jsp_output *out);

/* Close the descriptor. After finish. */
int jsp_output_close(struct jsp_output *out);

/* In the child of a fork: close without writing a byte, and free what is constant since
 * open; the rest may be half of a change. */
void jsp_output_abandon(struct jsp_output *out);

#endif
