/* analyze/tasks_work.h - tasks while they are read; for src/analyze/tasks*.c only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_TASKS_WORK_H
#define JSP_ANALYZE_TASKS_WORK_H

#include "base/hash.h"
#include "tasks.h"

/* TASKS_FIRST has one number for each process, 0: its position is in firsts[]. */
enum tasks_space { TASKS_TASK, TASKS_WHAT, TASKS_STACK, TASKS_THREAD, TASKS_FIRST, TASKS_SPACES };

/* A number of the capture, and the position that it got. */
struct tasks_number {
    uint64_t number;
    int32_t pid;
    uint32_t at;
};

struct tasks_numbers {
    struct jsp_hash by;
    struct tasks_number *at;
    uint32_t n, room;
};

/* A moment from which a task could run. */
struct tasks_ready {
    int64_t time; /* when that was said */
    int64_t due;  /* the moment */
    uint64_t task, by;
    int32_t pid;
    bool is_timer; /* it was said of a timer */
};

/* A task as recorded: its fields as numbers of the capture. */
struct tasks_raw {
    uint64_t parent, what, stack;
    int32_t pid;
};

struct tasks_work {
    struct jsp_tasks *t;
    const struct jsp_profile *profile;
    struct tasks_numbers numbers[TASKS_SPACES];
    struct tasks_raw *raw;   /* one for each task */
    uint64_t *run_of;        /* the number of each run's task */
    struct tasks_ready *readies;
    uint64_t *firsts;        /* first tasks of processes */
    struct jsp_hash by_text; /* of whats */
    uint32_t raw_room, tasks_room, whats_room, runs_room, run_of_room, turns_room, stacks_room;
    uint32_t threads_room, firsts_room, n_firsts, readies_room, n_readies;
};

/* -- tasks_find.c */

/* Return the position, or JSP_TASK_NONE. */
uint32_t jsp_tasks_work_find(const struct tasks_work *w, enum tasks_space space, int32_t pid,
                             uint64_t number);

/* Add a position. Return 0 or -ENOMEM. */
int jsp_tasks_work_add(struct tasks_work *w, enum tasks_space space, int32_t pid,
                       uint64_t number, uint32_t at);

/* -- tasks_seal.c: order and link what was read. Return 0 or -ENOMEM. */
int jsp_tasks_work_seal(struct tasks_work *w);

#endif
