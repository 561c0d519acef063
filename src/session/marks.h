/* session/marks.h - marks and counters on their way to the capture.
 *
 * SPDX-License-Identifier: MIT
 *
 * Any thread of the host leaves whole frames in a bounded queue under a lock of its own,
 * so a slow file never stops a host that marks; the drain moves them into the writer.
 * What does not fit is counted, and so is what the file did not take. Outside handlers.
 */
#ifndef JSP_SESSION_MARKS_H
#define JSP_SESSION_MARKS_H

#include <pthread.h>

#include "capture/writer.h"
#include "jsprof.h"

enum {
    JSP_MARKS_QUEUE = 1 << 20,  /* bytes, touched as they are used */
    JSP_MARKS_COUNTERS = 4095,  /* at most */
    JSP_MARKS_MESSAGE = 4095,   /* bytes of a message; the rest is cut */
};

struct jsp_marks_counter {
    char group[32], name[32];
    uint64_t bits; /* of the last value, as written */
    bool is_real, is_set;
};

struct jsp_marks {
    pthread_mutex_t lock;
    uint8_t *queue; /* owned; NULL until the first mark */
    uint32_t used;  /* bytes of whole frames */
    int32_t pid;
    struct jsp_marks_counter *counters; /* owned; id - 1 */
    uint32_t n_counters, counters_room;
    uint64_t lost;    /* marks and values that found no room, or were given up */
};

void jsp_marks_init(struct jsp_marks *m, int32_t pid);
void jsp_marks_free(struct jsp_marks *m);

/* In the child of a fork, after init: the parent's counters, under their numbers and without
 * values. Not where another thread was in the middle of something with them. */
void jsp_marks_take_over(struct jsp_marks *m, struct jsp_marks *parents);

struct jsp_marks_mark {
    uint64_t begin_ns, end_ns;
    const char *group, *name, *message; /* may be NULL */
};

/* All: 0 (or an id), -ENOMEM, or -ENOBUFS: the queue is full, it is counted. */
int jsp_marks_mark(struct jsp_marks *m, const struct jsp_marks_mark *mark);

struct jsp_marks_definition {
    const char *group, *name, *what;
    bool is_real;
};

/* The counter's id, from 1; it may be there already. -EEXIST: with the other type;
 * -ENOSPC: there are too many. */
int jsp_marks_counter(struct jsp_marks *m, const struct jsp_marks_definition *d);

/* The value in the counter's type. -ENOENT: no such counter. */
int jsp_marks_set(struct jsp_marks *m, int counter, int64_t whole, double real);

/* Move what fits; the drain's, and who has the writer. */
void jsp_marks_drain(struct jsp_marks *m, struct jsp_writer *w);

/* What waits here and in the writer will not be written: before the writer forgets it. */
void jsp_marks_give_up(struct jsp_marks *m, const struct jsp_writer *w);

uint64_t jsp_marks_lost(struct jsp_marks *m);

#endif
