/* analyze/flows.h - which run of a task led to which: the arrows between spans of a timeline.
 *
 * A run has at most one cause: the run in which its task was made ready, or else the one in which
 * its task was made. A further run of a timer, of which nobody knows when it was ready, follows the
 * run before. A cause is at a lower position in the order of time, so a walk along causes ends. One
 * thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_FLOWS_H
#define JSP_ANALYZE_FLOWS_H

#include "tasks.h"

struct jsp_flow {
    uint32_t from; /* the cause, in runs[]; JSP_TASK_NONE: it is not known, or no run was it */
    int64_t time;  /* the moment at which it made the run possible */
};

struct jsp_flows {
    struct jsp_flow *of; /* by run */
    /* The runs that each one caused: those of run i are at [first[i], first[i + 1]). */
    uint32_t *caused, *first;
    /* By run: it touches the span of time with which the profile was loaded, and its thread is
     * chosen. Flows from and to other runs are there, too. */
    bool *is_shown;
    bool *threads; /* by threads[] of the tasks: it is chosen */
    uint32_t n_shown;
};

/* `threads` has a flag for each thread of the profile; NULL: all are chosen, and only then threads
 * that the profile does not have. Return 0 or -ENOMEM. Free it in any case. */
int jsp_flows_build(struct jsp_flows *f, const struct jsp_tasks *t, const struct jsp_profile *p,
                    const bool *threads);

/* Free the flows. */
void jsp_flows_free(struct jsp_flows *f);

/* Return true if a span of this thread, of which `duration` is known, is shown. */
bool jsp_flows_shows(const struct jsp_flows *f, const struct jsp_profile *p, uint32_t thread,
                     int64_t begin, int64_t duration);

/* The runs and turns of a thread that are shown, by their begin, those around others first. */
enum { JSP_FLOW_DEPTH = 128 }; /* twice what is recorded */
struct jsp_flow_walk {
    uint32_t thread;    /* the caller sets it, and the rest to 0 */
    uint32_t run, turn; /* how many were passed */
    int64_t ends[JSP_FLOW_DEPTH]; /* of the spans around the next one */
    uint32_t depth;
};

struct jsp_flow_span {
    uint32_t run; /* JSP_TASK_NONE: it is a turn */
    int64_t begin, duration;
};

/* Return false after the last one. No span ends after the one around it, whatever the times of the
 * capture are. */
bool jsp_flows_next(const struct jsp_flows *f, const struct jsp_tasks *t,
                    const struct jsp_profile *p, struct jsp_flow_walk *w,
                    struct jsp_flow_span *out);

/* Return the end of a span, or the largest time if there is none. */
int64_t jsp_flows_end(int64_t begin, int64_t duration);

#endif
