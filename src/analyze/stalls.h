/* analyze/stalls.h - turns of a loop that took too long, and what took the time.
 *
 * The samples of a turn's thread say what it did. Their time is split into causes; the largest
 * one is the cause of the stall, and among its samples the function with the most time. A host
 * that reports no turns has each outermost run as one. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_STALLS_H
#define JSP_ANALYZE_STALLS_H

#include "select.h"
#include "tasks.h"

enum jsp_stall_cause {
    JSP_STALL_FUNCTION,   /* it ran a function */
    JSP_STALL_COLLECTION, /* a collector ran */
    JSP_STALL_BLOCKING,   /* it was asleep in a system call, or in a wait of the host */
    JSP_STALL_PROCESSOR,  /* it waited for a processor */
    JSP_STALL_UNKNOWN,    /* no sample says */
    JSP_STALL_CAUSES
};

struct jsp_stall {
    int64_t begin, duration; /* without loops inside it; of an open one: at least */
    uint32_t thread;         /* in threads[] of the tasks */
    uint32_t what;           /* of its longest run, in whats[]; JSP_TASK_NONE: none */
    enum jsp_stall_cause cause;
    int64_t parts[JSP_STALL_CAUSES]; /* ns; their sum is the duration, or more by one sample */
    uint64_t samples;
    /* Of the samples of the cause: */
    uint32_t function;       /* the VM's innermost one with the most time; UINT32_MAX: none */
    uint32_t stack;          /* the one with the most time, of this function; UINT32_MAX: none */
    uint32_t group;          /* in groups[] */
    bool is_open;
};

/* Stalls of the same cause, function, wait and task. */
struct jsp_stall_group {
    uint32_t worst; /* in stalls[] */
    uint64_t n;
    int64_t total;
    int64_t parts[JSP_STALL_CAUSES];
};

struct jsp_stalls_found {
    struct jsp_stall *stalls;       /* the longest first */
    struct jsp_stall_group *groups; /* that of the longest stall first */
    uint32_t n_stalls, n_groups;
    uint64_t turns;                 /* that were looked at */
    int64_t longest;                /* of these */
    bool is_of_runs;                /* the capture has no turns: they are outermost runs */
};

/* Find the turns of at least `over` ns in the chosen threads, in the span of time of the
 * profile. Return 0 or -ENOMEM. Free it in any case. */
struct jsp_stalls_ask {
    const struct jsp_select *select;
    int64_t over;
};
int jsp_stalls_find(struct jsp_stalls_found *out, const struct jsp_tasks *t,
                    struct jsp_profile *p, const struct jsp_stalls_ask *ask);

/* Free the turns. */
void jsp_stalls_free(struct jsp_stalls_found *s);

/* "function", "collection", "blocking", "processor", "unknown"; ends with NULL. */
extern const char *const jsp_stall_causes[JSP_STALL_CAUSES + 1];

#endif
