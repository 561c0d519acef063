/* sigsafe/record.h - one sample as the handler leaves it and the drain finds it.
 *
 * VM frames come in runs, one for each source, every run outermost first; behind
 * them the native frames, innermost first, as the unwinder found them. The drain
 * brings them all into one order by stack address.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_RECORD_H
#define JSP_SIGSAFE_RECORD_H

#include "room.h"

enum jsp_run { JSP_RUN_LINKS, JSP_RUN_ARRAY, JSP_RUN_HOST, JSP_RUN_WALKER, JSP_N_RUNS };

struct jsp_rec_frame {
    uint32_t id;    /* of the label, in the session's arena */
    uint32_t line;  /* current, 0: unknown */
    uint64_t sp;    /* 0: that of the frame before it in the run */
    uint64_t pc;
    uint32_t entry; /* the first of one activation of the interpreter's loop */
    uint32_t gap;   /* a mark: frames that are not here lie in its place */
};

/* In place of an address: compiled code, whose frames the host's walker tells. */
#define JSP_NATIVE_TOLD UINT64_MAX
/* The same: frames that there was no room for; the record's cut_native names them. */
#define JSP_NATIVE_CUT (UINT64_MAX - 1)

struct jsp_rec_native {
    uint64_t ip;  /* return address, but for the innermost frame */
    uint64_t cfa; /* the caller's stack pointer: what is below belongs to this frame */
};

struct jsp_record {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t cpu_ns;  /* of the thread since its expiration before */
    uint32_t weight;  /* expirations */
    uint32_t cut;     /* frames that were there and are not here */
    uint16_t n[JSP_N_RUNS];
    uint16_t n_native;
    uint16_t stop;    /* why the unwinder ended */
    uint32_t cut_native; /* id of the label for C frames that are not here */
    struct jsp_rec_frame frames[]; /* the runs, one after another; then the natives */
};
_Static_assert(sizeof(struct jsp_record) % 8 == 0, "whole words in the ring");
_Static_assert(sizeof(struct jsp_rec_frame) % 8 == 0, "whole words in the ring");

static inline uint32_t jsp_record_frames(const struct jsp_record *record)
{
    return (uint32_t)record->n[0] + record->n[1] + record->n[2] + record->n[3];
}

static inline struct jsp_rec_native *jsp_record_natives(const struct jsp_record *record)
{
    return (struct jsp_rec_native *)(void *)(record->frames + jsp_record_frames(record));
}

/* So many more frames are not here. The depth of a host's stack may have been garbage: the
 * count stops, it does not wrap. */
static inline void jsp_record_cut(struct jsp_record *record, uint32_t n)
{
    uint32_t room = UINT32_MAX - record->cut;
    record->cut += n < room ? n : room;
}

/* VM frames of one record: max_depth of them, and a mark for each run. */
#define JSP_RECORD_FRAMES(max_depth) ((max_depth) + (uint32_t)JSP_N_RUNS)

static inline uint32_t jsp_record_words(uint32_t n_frames, uint32_t n_natives)
{
    return (uint32_t)((sizeof(struct jsp_record) + n_frames * sizeof(struct jsp_rec_frame) +
                       n_natives * sizeof(struct jsp_rec_native)) / 8);
}

#endif
