/* sigsafe/record.h - one sample as the handler leaves it and the drain finds it.
 *
 * Frames come in runs, one for each source of VM frames, every run outermost
 * first. The drain orders the runs among each other by stack address.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_RECORD_H
#define JSP_SIGSAFE_RECORD_H

#include "room.h"

enum jsp_run { JSP_RUN_LINKS, JSP_RUN_ARRAY, JSP_RUN_HOST, JSP_RUN_WALKER, JSP_N_RUNS };

struct jsp_rec_frame {
    uint32_t id;   /* of the label, in the session's arena */
    uint32_t line; /* current, 0: unknown */
    uint64_t sp;   /* 0: that of the frame before it in the run */
    uint64_t pc;
};

struct jsp_record {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t cpu_ns;  /* of the thread since its expiration before */
    uint32_t weight;  /* expirations */
    uint32_t cut;     /* frames that were there and are not here */
    uint16_t n[JSP_N_RUNS];
    struct jsp_rec_frame frames[]; /* the runs, one after another */
};
_Static_assert(sizeof(struct jsp_record) % 8 == 0, "whole words in the ring");
_Static_assert(sizeof(struct jsp_rec_frame) % 8 == 0, "whole words in the ring");

static inline uint32_t jsp_record_frames(const struct jsp_record *record)
{
    return (uint32_t)record->n[0] + record->n[1] + record->n[2] + record->n[3];
}

static inline uint32_t jsp_record_words(uint32_t n_frames)
{
    return (uint32_t)((sizeof(struct jsp_record) + n_frames * sizeof(struct jsp_rec_frame)) / 8);
}

#endif
