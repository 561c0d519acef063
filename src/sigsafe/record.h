/* sigsafe/record.h - one sample as the handler writes it and the drain reads it.
 *
 * VM frames come in runs, one for each source, every run outermost first. After them come
 * the native frames, innermost first, as the unwinder found them. The drain merges them
 * into one order by stack address.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_RECORD_H
#define JSP_SIGSAFE_RECORD_H

#include "tags.h"

#include "base/states.h"

enum jsp_run { JSP_RUN_LINKS, JSP_RUN_ARRAY, JSP_RUN_HOST, JSP_RUN_WALKER, JSP_N_RUNS };

struct jsp_rec_frame {
    uint32_t id;    /* of the label, in the session's arena */
    uint32_t line;  /* current, 0: unknown */
    uint64_t sp;    /* 0: that of the previous frame in the run */
    uint64_t pc;
    /* nonzero: the first frame of one activation of the interpreter's loop; may have
     * JSPROF_FRAME_CALLED */
    uint32_t entry;
    uint32_t gap;   /* nonzero: a mark in place of frames that the record lacks */
};

/* In place of an address: compiled code whose frames the host's walker reports. */
#define JSP_NATIVE_WALKED UINT64_MAX
/* In place of an address: C frames that did not fit; the record's cut_native labels
 * them. */
#define JSP_NATIVE_CUT (UINT64_MAX - 1)

struct jsp_rec_native {
    uint64_t ip;  /* return address; of the innermost frame the interrupted address */
    uint64_t cfa; /* the caller's stack pointer: lower addresses belong to this frame */
};

/* What the thread was doing. All 0: not known. */
struct jsp_rec_state {
    uint64_t asleep_ns;  /* so far */
    uint32_t state;      /* enum jsp_state */
    uint32_t call;       /* number + 1 of the name of the system call in which it sleeps, see
                          * base/states.h; 0: none */
    uint32_t descriptor; /* the call's descriptor + 1; 0: none */
    uint32_t what;       /* id of the label of what the host waits for; 0: none */
};

/* Who took a sample. */
enum jsp_taker {
    JSP_TAKER_HANDLER,
    JSP_TAKER_LOOKER, /* from outside, while the thread slept */
    JSP_TAKER_AGAIN,  /* the stack of the last record of the looker's, or of an offer */
    JSP_TAKER_OFFER,  /* the handler, for the looker, which gives it a weight if it needs it */
};

struct jsp_record {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    /* CPU time of the thread since its previous expiration; of an allocation its bytes, and
     * 0 if it was freed */
    uint64_t cpu_ns;
    uint64_t number;  /* of an allocation, from 1; 0: a sample of time */
    uint32_t weight;  /* expirations; 0 for an allocation */
    uint32_t cut;     /* frames that the stack had and the record lacks */
    uint16_t n[JSP_N_RUNS];
    uint16_t n_native;
    uint16_t stop;    /* why the unwinder ended */
    uint32_t cut_native; /* id of the label for C frames that the record lacks */
    struct jsp_rec_state state;
    uint16_t taker;      /* enum jsp_taker */
    uint16_t n_tags;     /* bytes of labels, after the natives; see tags.h */
    uint32_t waited;     /* the part of the weight for which it waited for a processor */
    uint64_t task;       /* the innermost task that ran; 0: none */
    uint64_t stack;      /* number of a stack on which a task was made; 0: a sample */
    struct jsp_rec_frame frames[]; /* the runs, one after another; then the natives */
};
_Static_assert(sizeof(struct jsp_record) % 8 == 0, "whole words in the ring");
_Static_assert(sizeof(struct jsp_rec_frame) % 8 == 0, "whole words in the ring");

/* Return the number of VM frames, of all runs. */
static inline uint32_t jsp_record_frames(const struct jsp_record *record)
{
    uint32_t n = 0;
    for (int run = 0; run < JSP_N_RUNS; run++)
        n += record->n[run];
    return n;
}

/* Return the native frames, which lie after the VM frames. */
static inline struct jsp_rec_native *jsp_record_natives(const struct jsp_record *record)
{
    return (struct jsp_rec_native *)(void *)(record->frames + jsp_record_frames(record));
}

/* Return the bytes of the labels, which lie after the native frames. */
static inline uint8_t *jsp_record_tags(const struct jsp_record *record)
{
    return (uint8_t *)(void *)(jsp_record_natives(record) + record->n_native);
}

/* Drop the frame of the library's function that asked for the stack. The next one becomes the
 * innermost, whose address is not taken for a return address: let it lie in the call. */
static inline void jsp_record_drop(struct jsp_record *record)
{
    struct jsp_rec_native *natives = jsp_record_natives(record);
    if (!record->n_native)
        return;
    record->n_native--;
    memmove(natives, natives + 1, record->n_native * sizeof *natives);
    if (record->n_native && natives[0].ip < JSP_NATIVE_CUT)
        natives[0].ip--;
}

/* Add n to the frames that the record lacks. The depth of a host's stack may be garbage:
 * the count saturates and does not wrap. */
static inline void jsp_record_cut(struct jsp_record *record, uint32_t n)
{
    uint32_t room = UINT32_MAX - record->cut;
    record->cut += n < room ? n : room;
}

enum { JSP_RECORD_DEEPEST = 1000 }; /* the largest max_depth that a session accepts */

/* Room for the VM frames of one record: max_depth of them, and a mark for each run. */
#define JSP_RECORD_FRAMES(max_depth) ((max_depth) + (uint32_t)JSP_N_RUNS)

/* Return the length in words of a record with so many frames, without its labels. */
static inline uint32_t jsp_record_words(uint32_t n_frames, uint32_t n_natives)
{
    return (uint32_t)((sizeof(struct jsp_record) + n_frames * sizeof(struct jsp_rec_frame) +
                       n_natives * sizeof(struct jsp_rec_native)) / 8);
}

/* The same of a whole record, with its labels. */
static inline uint32_t jsp_record_size(const struct jsp_record *record)
{
    return jsp_record_words(jsp_record_frames(record), record->n_native) +
           (record->n_tags + 7u) / 8;
}

#endif
