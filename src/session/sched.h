/* session/sched.h - what the scheduler does with the threads of the process: each switch as a mark,
 * and sums as counters. JSPROF_SCHED asks for it.
 *
 * perf_event_open reports each switch of a thread with its time, its processor and whether the
 * thread had to stop. The kernel writes these into a ring of its own for each thread, which the
 * drain reads. Where it refuses, or for more threads than it lends memory for, there are only the
 * counters, whose numbers come from elsewhere, and the states of samples that the looker took.
 *
 * The caller holds the session's lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_SCHED_H
#define JSP_SESSION_SCHED_H

#include "marks.h"
#include "thread.h"

enum jsp_sched_counter {
    JSP_SCHED_VOLUNTARY, JSP_SCHED_INVOLUNTARY, JSP_SCHED_DELAY, JSP_SCHED_MIGRATIONS,
    JSP_SCHED_FREQUENCY,
    JSP_SCHED_N,
};

struct jsp_sched { /* zeroed: off */
    struct jsp_marks *marks; /* borrowed; NULL: off */
    int counters[JSP_SCHED_N]; /* ids, or an error */
    int error;               /* why there are no rings; 0: there are */
    uint32_t n_rings;
    uint64_t migrations;     /* that switches of rings show */
    bool has_migrated;       /* the kernel counts them itself, of every thread */
    uint64_t delay_ns, migrated; /* of threads that have left */
    uint64_t counted_ns;     /* time when the counters were set */
    uint64_t before[2];      /* switches of the process before */
};

/* Begin; no thread is recorded yet. */
void jsp_sched_begin(struct jsp_sched *s, struct jsp_marks *marks);

/* Record the switches of this thread, if the kernel lends a ring for it. Nothing if `s` is off. */
void jsp_sched_add(struct jsp_sched *s, struct jsp_thread *t);

/* Turn what the rings hold into marks, and set the counters once a second. */
void jsp_sched_read(struct jsp_sched *s, struct jsp_thread *threads);

/* Record the thread no longer. It may have ended. */
void jsp_sched_leave(struct jsp_sched *s, struct jsp_thread *t);

/* The same for all threads, after a last look at the counters. */
void jsp_sched_end(struct jsp_sched *s, struct jsp_thread *threads);

/* In the child of a fork: close the parent's rings. */
void jsp_sched_abandon(struct jsp_sched *s, struct jsp_thread *threads);

/* Format how the switches are recorded. `has_states`: samples have states, so that they show
 * switches, too, as far apart as samples are. */
enum { JSP_SCHED_TEXT = 96 };
void jsp_sched_put(char to[JSP_SCHED_TEXT], const struct jsp_sched *s, bool has_states);

#endif
