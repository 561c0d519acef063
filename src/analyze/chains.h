/* analyze/chains.h - the chain of tasks that led to each sample, for a profile that has them.
 *
 * A link is a kind and name with the stack on which such a task was made; its parent is the link
 * of the task that ran then. Tasks with equal chains share their links. A link that occurs on its
 * own chain, such as that of a timer that sets itself again, is the same one: so a chain of a
 * million tasks has as many links as the program has places that make tasks. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_CHAINS_H
#define JSP_ANALYZE_CHAINS_H

#include "base/hash.h"
#include "samples.h"
#include "tasks.h"

enum { JSP_CHAIN_NONE, JSP_CHAIN_UNKNOWN, JSP_CHAIN_FIRST }; /* no task; one not in the capture */

struct jsp_chain {
    uint32_t parent; /* JSP_CHAIN_NONE: no task made it */
    uint32_t what;   /* in whats[] of the tasks */
    uint32_t stack;  /* in stacks[], or JSP_TASK_NONE */
};

struct jsp_chains {
    struct jsp_tasks tasks;
    struct jsp_chain *links; /* parents have lower positions */
    uint32_t n, room;
    uint32_t *of_task; /* by tasks[] */
    bool *is_under;    /* by tasks[]: one of the tasks asked for, or caused by one; NULL: all */
    uint32_t n_under;  /* how many were asked for */
    struct jsp_profile_frame *frames; /* room for a stack */

    struct jsp_hash by_link; /* a parent, what and stack -> a link */
    struct jsp_chain_known { struct jsp_chain key; uint32_t link; } *known;
    uint32_t n_known, known_room;
};

/* Read the tasks of the capture. `under` asks for tasks by number or text, as
 * jsp_tasks_matching does; NULL: for all. Return 0 or -ENOMEM. */
int jsp_chains_open(struct jsp_chains **out, const struct jsp_profile *p, const char *under);

/* Free the chains. NULL does nothing. */
void jsp_chains_close(struct jsp_chains *c);

/* Store the link of a sample, which was read from this frame. Return false if it is in no task
 * that was asked for. */
bool jsp_chains_take(const struct jsp_chains *c, const struct jsp_read_frame *f,
                     const struct jsp_sample *sample, uint32_t *link);

/* Return "timeout tick (clock.js:12)", "[no task]" or "[unknown task]", which the caller frees;
 * or NULL: no memory. */
char *jsp_chains_name(const struct jsp_chains *c, uint32_t link);

/* Append to the n frames of a stack, leaf first, the chain that led to it: for each link a frame
 * with its name, and the frames of the stack on which it was made, of the origins that are shown.
 * Callers that two neighbouring stacks have in common, such as the loop, are on the outer one
 * only. Return how many frames there are then, or -ENOMEM. */
int jsp_chains_frames(struct jsp_profile *p, uint32_t link, const bool is_shown[3],
                      struct jsp_profile_frame out[JSP_PROFILE_DEPTH], int n);

#endif
