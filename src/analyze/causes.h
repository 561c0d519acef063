/* analyze/causes.h - who scheduled a task: the chains of tasks that led to it.
 *
 * A link is a task and the stack on which it was made. Its maker, the task that ran then, is the
 * next link. Tasks whose chains have the same kinds, names and names of functions on the stacks are
 * counted together. A link that repeats itself, such as a timer that sets itself again, is one link
 * with a count. Texts are borrowed from the capture. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_CAUSES_H
#define JSP_ANALYZE_CAUSES_H

#include "tasks.h"

enum {
    JSP_CAUSES_LINKS = 64,  /* of a chain at most */
    JSP_CAUSES_STEPS = 4096 /* tasks of a chain at most */
};

/* The functions by which two stacks differ. Zeroed: all of them. */
struct jsp_causes_view {
    bool is_vm;    /* those of the VM alone, of a stack that has some */
    uint32_t most; /* so many, the innermost; 0: all */
};

struct jsp_causes_link {
    uint32_t what;  /* in whats[] of the tasks */
    uint32_t stack; /* one that looks so, in stacks[], or JSP_TASK_NONE */
    uint32_t times; /* the link repeats itself so often at most */
};

/* Runs of a chain's tasks that a task other than their maker made ready. */
struct jsp_causes_ready {
    uint32_t chain; /* only while the chains are built */
    uint32_t what;  /* the kind and name of that other task, in whats[] */
    uint64_t runs;
};

struct jsp_causes_chain {
    struct jsp_causes_link *links; /* the task first, the root last; owned */
    uint32_t n_links;
    bool is_cut;        /* it goes on, beyond the limits or in tasks that the capture lacks */
    uint64_t tasks, runs;
    double total;       /* ns of these runs, from begin to end */
    int64_t delay;      /* the longest delay of a run; -1: none is known */
    uint32_t first;     /* one of the tasks, in tasks[] */
    const struct jsp_causes_ready *ready; /* that of the most runs first */
    uint32_t n_ready;
};

struct jsp_causes {
    struct jsp_causes_chain *chains; /* those of the longest time first */
    uint32_t n_chains, room;
    struct jsp_causes_ready *ready; /* of all chains; owned */
    uint32_t n_ready, ready_room;
};

/* Find the chains of the tasks that have a flag in `asked`, one for each of tasks[]. Return 0,
 * -ENOMEM or -EFBIG. Free it in any case. */
int jsp_causes_build(struct jsp_causes *c, const struct jsp_tasks *t, struct jsp_profile *p,
                     const struct jsp_causes_view *view, const bool *asked);

/* Store for each of stacks[] the first one that looks the same, in an array that the caller frees.
 * Return as build. */
int jsp_causes_looks(const struct jsp_tasks *t, struct jsp_profile *p,
                     const struct jsp_causes_view *view, uint32_t **out);

/* Set the flags of the tasks that ran when a function of this name, as jsp_filter_names knows it,
 * was on the stack of a sample. Store how many were set. Return 0 or -ENOMEM. */
int jsp_causes_of_function(const struct jsp_tasks *t, struct jsp_profile *p, const char *name,
                           bool *asked, uint32_t *n);

/* Set the flags of the tasks that ran when a mark of this name, or of this "GROUP/NAME", began: on
 * any thread of its process, since a mark has no thread. */
void jsp_causes_of_mark(const struct jsp_tasks *t, const struct jsp_profile *p, const char *name,
                        bool *asked);

/* Free the causes. */
void jsp_causes_free(struct jsp_causes *c);

#endif
