/* analyze/tasks.h - the tasks of a capture, their runs, and the turns of loops: jsprof/tasks.
 *
 * Arrays, linked by positions. A capture may have any of them without the others: a task whose
 * runs were lost, a run of a task that another process made. JSP_TASK_NONE takes the place of
 * what is not there. A parent is always at a lower position than its children, so a walk to the
 * root ends whatever the bytes of the capture are.
 *
 * Texts are borrowed from the capture. Times are those of the capture, in ns; nothing is left
 * out for the span of time with which the profile was loaded. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_TASKS_H
#define JSP_ANALYZE_TASKS_H

#include "capture/taskfile.h"
#include "profile.h"

#define JSP_TASK_NONE UINT32_MAX

struct jsp_task {
    uint64_t number;  /* in its process */
    int64_t time;     /* when it was made */
    int64_t done;     /* when the host said that it is done; 0: it did not */
    uint32_t parent;  /* the task that ran when it was made, in tasks[] */
    uint32_t thread;  /* on which it was made, in threads[] */
    uint32_t what;    /* in whats[] */
    uint32_t stack;   /* on which it was made, in stacks[] */
    uint32_t first_run, n_runs; /* in runs_of[], in the order of time */
};

/* Kinds and names; equal ones are one. whats[0] has neither. */
struct jsp_task_what {
    struct jsp_read_text kind, name;
};

struct jsp_task_run {
    int64_t begin, duration; /* of an open one: at least */
    int64_t inner;     /* the part of it in which runs inside it ran */
    int64_t delay;     /* since the task was ready; -1: not known, such as of a timer's next runs */
    uint32_t task;     /* in tasks[] */
    uint32_t thread;   /* in threads[] */
    uint32_t outer;    /* the run around it, in runs[] */
    uint32_t by;       /* the task that made it ready, in tasks[]; its parent, if nothing did */
    uint32_t turn;     /* in which it began, in turns[] */
    uint32_t depth;    /* runs around it, as recorded */
    bool is_open;      /* it has no end in the capture */
    bool is_left;      /* it ended because a run or a turn around it ended */
};

struct jsp_task_turn {
    int64_t begin, duration;
    int64_t inner;     /* the part of it in which a loop inside it ran */
    uint32_t thread;   /* in threads[] */
    uint32_t depth;    /* turns around it */
};

/* A stack on which tasks were made; see jsp_tasks_stack_frames. */
struct jsp_task_stack {
    struct jsp_tasks_frames frames;
    int32_t pid;
    uint32_t epoch;
};

struct jsp_task_thread {
    int32_t pid, tid;
    uint32_t first_run, n_runs;   /* in runs[], by their begin, outer ones first */
    uint32_t first_turn, n_turns; /* in turns[], by their begin */
};

/* What is not as it should be. */
struct jsp_task_defects {
    uint64_t unknown;  /* runs of tasks that are not in the capture */
    uint64_t before;   /* of these the ones of tasks that were made before it began */
    uint64_t repeated; /* tasks that the capture has twice; the first counts */
    uint64_t orphans;  /* tasks whose parent is not in the capture */
    uint64_t crossing; /* runs that end after the one around them */
    uint64_t bad;      /* chunks that can not be read to their end */
};

struct jsp_tasks {
    struct jsp_task *tasks;    /* by process and number */
    struct jsp_task_what *whats;
    struct jsp_task_run *runs; /* by thread, then as there */
    struct jsp_task_turn *turns;
    struct jsp_task_stack *stacks;
    struct jsp_task_thread *threads; /* in the order of their first record */
    uint32_t *runs_of;         /* runs by task */
    uint32_t n_tasks, n_whats, n_runs, n_turns, n_stacks, n_threads;
    struct jsp_task_defects defects;
};

/* Read them all. A capture without any has arrays without elements. Return 0 or -ENOMEM, with
 * nothing to free. */
int jsp_tasks_read(struct jsp_tasks *t, const struct jsp_profile *p);

/* Free the tasks. */
void jsp_tasks_free(struct jsp_tasks *t);

/* Store the frames of a stack, leaf first. Return how many, or -ENOMEM. */
int jsp_tasks_stack_frames(const struct jsp_tasks *t, struct jsp_profile *p, uint32_t stack,
                           struct jsp_profile_frame out[JSP_PROFILE_DEPTH]);

/* Return the thread, or JSP_TASK_NONE. */
uint32_t jsp_tasks_thread(const struct jsp_tasks *t, int32_t pid, int32_t tid);

/* Return the innermost run of the thread at this moment, or JSP_TASK_NONE. */
uint32_t jsp_tasks_run_at(const struct jsp_tasks *t, uint32_t thread, int64_t time);

/* Return the turn of the thread at this moment, the innermost one, or JSP_TASK_NONE. */
uint32_t jsp_tasks_turn_at(const struct jsp_tasks *t, uint32_t thread, int64_t time);

/* Return the task of a process by its number, as samples have it, or JSP_TASK_NONE. */
uint32_t jsp_tasks_find(const struct jsp_tasks *t, int32_t pid, uint64_t number);

/* Return the figures of each of whats[], which the caller frees. NULL: no memory. */
struct jsp_task_figures {
    uint64_t tasks, runs;
    double total; /* ns of the runs */
};
struct jsp_task_figures *jsp_tasks_figures(const struct jsp_tasks *t);

/* Return a flag for each of tasks[], which the caller frees: it has this number ("7", "#7"), or
 * its kind and name, with a space between them, contain the text. NULL: no memory. */
bool *jsp_tasks_matching(const struct jsp_tasks *t, const char *which);

#endif
