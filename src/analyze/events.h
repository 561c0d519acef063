/* analyze/events.h - marks and counters of a capture.
 *
 * An event counts if it lies in the span of time with which the profile was loaded; a mark
 * counts if any part of it does. Texts are borrowed from the capture. Sums are by group and
 * name, whatever the process. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_EVENTS_H
#define JSP_ANALYZE_EVENTS_H

#include "profile.h"

struct jsp_event_mark {
    int64_t time, duration; /* ns; 0: a moment */
    struct jsp_read_text group, name, message;
    int32_t pid;
};

struct jsp_event_counter {
    struct jsp_read_text group, name, what;
    uint32_t id;
    int32_t pid;
    bool is_real;
    uint32_t n_values;
};

struct jsp_event_value {
    int64_t time;
    double value;
    uint32_t counter; /* position in counters[] */
};

struct jsp_events {
    struct jsp_event_mark *marks;       /* in file order */
    struct jsp_event_counter *counters; /* in order of definition */
    struct jsp_event_value *values;     /* in file order, of all counters */
    uint32_t n_marks, n_counters, n_values;
    uint64_t undefined; /* values of undefined counters, which are dropped */
};

/* Read the events of all processes (`pids` NULL), or of those n. Return 0 or -ENOMEM. */
struct jsp_events_of {
    const int32_t *pids;
    uint32_t n;
};
int jsp_events_read(struct jsp_events *e, struct jsp_profile *p, struct jsp_events_of of);

/* Free the events. */
void jsp_events_free(struct jsp_events *e);

/* A summary of many values; the median and the 95th percentile are values that occur. */
struct jsp_events_sum {
    uint64_t n;
    double total, min, mean, median, p95, max, last;
};

/* Summarize the values, and sort them. n is at least 1. */
struct jsp_events_sum jsp_events_sum(double *values, uint32_t n);

/* Marks of one group and name (their durations in ns), or the values of one counter. */
struct jsp_events_group {
    struct jsp_read_text group, name;
    struct jsp_read_text message; /* of marks, where they are grouped by it too */
    struct jsp_events_sum sum;
    const char *kind; /* "mark", "counter" */
};

struct jsp_events_groups {
    struct jsp_events_group *at; /* marks by group and name, then counters as defined */
    uint32_t n, room;
};

/* Group the events, and sort the counters' values by counter and time. By messages, the most
 * frequent message of a name comes first. Return 0 or -ENOMEM. Free the groups in any case. */
int jsp_events_group(struct jsp_events_groups *g, struct jsp_events *e, bool by_message);

/* Free the groups. */
void jsp_events_groups_free(struct jsp_events_groups *g);

#endif
