/* session/marks.h - marks and counters on their way to the capture.
 *
 * Any thread of the host puts whole frames into a bounded queue, which has its own lock,
 * so a slow file never stops a host that marks. The drain moves them into the writer.
 * Frames that do not fit and frames that the file did not take are counted. Not callable
 * from handlers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_MARKS_H
#define JSP_SESSION_MARKS_H

#include <pthread.h>

#include "capture/writer.h"
#include "jsprof.h"
#include "stalls.h"

enum {
    JSP_MARKS_QUEUE = 1 << 20,  /* bytes; memory is taken when first used */
    JSP_MARKS_COUNTERS = 4095,  /* at most */
    JSP_MARKS_MESSAGE = 4095,   /* bytes of a message; longer ones are cut */
};

struct jsp_marks_counter {
    char group[32], name[32];
    uint64_t bits; /* the last value as written */
    bool is_real, is_set;
};

struct jsp_marks {
    pthread_mutex_t lock;
    uint8_t *queue; /* owned; NULL until the first mark */
    uint32_t used;  /* bytes of whole frames */
    int32_t pid;
    /* owned; index: id - 1; NULL until the first one, then room for all */
    struct jsp_marks_counter *counters;
    uint32_t n_counters;
    uint64_t lost;    /* marks and values that found no room or were given up */
    bool is_off;      /* there is no file: frames are dropped */
};

/* Lay out an empty queue without counters. `pid` is stored with each mark. */
void jsp_marks_init(struct jsp_marks *m, int32_t pid);

/* Free the queue and the counters. No other thread may use them. */
void jsp_marks_free(struct jsp_marks *m);

/* Take over the parent's counters with their ids but without values, in the child of a
 * fork after init. Another thread of the parent may have held its lock. */
void jsp_marks_take_over(struct jsp_marks *m, const struct jsp_marks *parents);

struct jsp_marks_mark {
    uint64_t begin_ns, end_ns;
    const char *group, *name, *message; /* may be NULL */
};

/* Return 0 (or an id), -ENOMEM or -ENOBUFS: the queue is full and the mark is counted as
 * lost. */
int jsp_marks_mark(struct jsp_marks *m, const struct jsp_marks_mark *mark);

/* Return as jsp_marks_mark. `domain` may be NULL. */
int jsp_marks_log(struct jsp_marks *m, uint16_t severity, const char *domain,
                  const char *message);

struct jsp_marks_definition {
    const char *group, *name, *what;
    bool is_real;
};

/* Return the id of a new or an existing counter, from 1. Errors also -EEXIST (it exists
 * with the other type) and -ENOSPC (too many counters). */
int jsp_marks_counter(struct jsp_marks *m, const struct jsp_marks_definition *d);

/* Set a counter; `whole` or `real` is read according to its type. Returns also -ENOENT:
 * no such counter. */
int jsp_marks_set(struct jsp_marks *m, int counter, int64_t whole, double real);

/* Which marks and values are written; see stalls.h. */
struct jsp_marks_filter {
    enum jsp_stall (*of)(const void *context, uint64_t from_ns, uint64_t to_ns);
    const void *context;
};

/* Move as many frames as fit into the writer. For the drain or another owner of the
 * writer. `filter` may be NULL: all. A value that is dropped is written when it is set again. */
void jsp_marks_drain(struct jsp_marks *m, struct jsp_writer *w,
                     const struct jsp_marks_filter *filter);

/* Drop the frames in the queue; count them and those waiting in the writer as lost. Call
 * it before the writer drops its own. */
void jsp_marks_give_up(struct jsp_marks *m, const struct jsp_writer *w);

/* Count marks as lost that never came here. */
void jsp_marks_lose(struct jsp_marks *m, uint64_t n);

/* Begin another file, or take nothing while there is none: counters can be defined and set then,
 * and the next file begins with their values. */
void jsp_marks_switch(struct jsp_marks *m, bool is_on);

/* Return how many marks and values were lost. Takes the lock. */
uint64_t jsp_marks_lost(struct jsp_marks *m);

#endif
