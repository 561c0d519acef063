/* analyze/loop.h - what an event loop ran: the runs of tasks in groups, and its turns.
 *
 * Texts are borrowed from the capture. A run counts if it lies in the span of time with which the
 * profile was loaded, at least in part, and if its thread is chosen. A run that has not ended
 * counts for as long as the capture has it. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_LOOP_H
#define JSP_ANALYZE_LOOP_H

#include "events.h"
#include "tasks.h"

enum jsp_loop_by { /* what the runs of a row have in common */
    JSP_LOOP_NAME, /* kind and name of their task */
    JSP_LOOP_KIND,
    JSP_LOOP_TASK,
    JSP_LOOP_THREAD, /* on which they ran */
};

enum jsp_loop_sort {
    JSP_LOOP_BY_SELF,
    JSP_LOOP_BY_TOTAL,
    JSP_LOOP_BY_RUNS,
    JSP_LOOP_BY_MEAN,
    JSP_LOOP_BY_P95,
    JSP_LOOP_BY_MAX,
    JSP_LOOP_BY_DELAY, /* the 95th percentile */
};

struct jsp_loop_row {
    struct jsp_read_text kind, name; /* empty: the row has several, or nobody knows */
    uint64_t task;         /* its number, in rows of one task */
    int32_t pid, tid;      /* where it was made; of a row of a thread: where they ran */
    bool is_unknown;       /* nobody knows who made these tasks */
    uint64_t made;         /* its tasks that the capture has; of a thread 0 */
    uint64_t open, left;   /* runs that have no end, or ended with one around them */
    double self;           /* ns in which no run inside these ran */
    struct jsp_events_sum run;   /* ns from begin to end */
    struct jsp_events_sum delay; /* ns from ready to begin; n is how many are known */
};

struct jsp_loop {
    struct jsp_loop_row *rows;
    uint32_t n_rows, room;
    uint64_t runs;               /* of all rows */
    double self;
    struct jsp_events_sum turns; /* ns without the loops inside them; n 0: the host reported none */
};

struct jsp_loop_ask {
    enum jsp_loop_by by;
    enum jsp_loop_sort sort;
    const bool *threads; /* by threads[] of the profile; NULL: all */
};

/* Return 0 or -ENOMEM. Free it in any case. */
int jsp_loop_build(struct jsp_loop *l, const struct jsp_tasks *t, const struct jsp_profile *p,
                   const struct jsp_loop_ask *ask);

/* Free the rows. */
void jsp_loop_free(struct jsp_loop *l);

#endif
