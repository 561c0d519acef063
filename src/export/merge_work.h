/* export/merge_work.h - a merge under way; for the merge*.c files only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_MERGE_WORK_H
#define JSP_EXPORT_MERGE_WORK_H

#include "analyze/samples.h"
#include "capture/encode.h"
#include "merge.h"
#include "sample_blocks.h"

enum merge_space { MERGE_TAG, MERGE_COUNTER, MERGE_ACCOUNT, MERGE_PID, MERGE_SPACES };

/* The number in the output for a number in an input. */
struct merge_number {
    uint64_t from, to;
    uint32_t input;
    enum merge_space space;
};

struct merge_pid { /* a process of the output */
    int32_t pid;
    struct jsp_read_text command;
};

struct merge_file { /* an embedded file of the output, and the input that it comes from */
    struct jsp_read_text path;
    uint32_t input;
};

/* The last numbers of tasks, names and stacks, and those before the current input. */
struct merge_tasks_numbers {
    uint64_t last_task, last_what, last_stack;
    uint64_t tasks_before, whats_before, stacks_before;
    uint64_t last_labels, labels_before; /* the same of labels */
};

struct merge_work {
    struct jsp_merge *m;
    uint32_t input;             /* index of the input being read */
    int64_t shift;              /* added to its times */
    struct jsp_read_cursor cursor;
    struct jsp_read_frame in;
    struct jsp_samples samples;

    struct jsp_hash by_from;
    struct merge_number *numbers;
    uint32_t n_numbers, numbers_room;
    uint64_t last[MERGE_SPACES]; /* the last numbers given out */
    struct jsp_hash by_pid;
    struct merge_pid *pids;
    uint32_t n_pids, pids_room;
    struct merge_file *files;
    uint32_t n_files, files_room;

    struct jsp_sample_blocks blocks;
    /* allocated blocks written, and before the current input */
    uint64_t n_allocations, allocations_before;
    struct merge_tasks_numbers tasks;
    struct jsp_bytecode_pcs pcs;       /* of the first input */
    uint32_t rows[JSP_PROFILE_DEPTH];
    struct jsp_bytes text;             /* gathered lines or records */
    struct jsp_encode out;             /* the frame being written, in `frame` */
    uint8_t frame[JSP_WIRE_MAX_FRAME];
    bool has_failed; /* memory was missing */
    /* the output has such a file */
    bool has_samples, has_pcs, has_states, has_allocations, has_frames, has_loops, has_losses;
    bool has_tasks, has_running, has_labels;
};

/* Return the output's number for a number of the current input. May set has_failed. */
uint64_t merge_number(struct merge_work *w, enum merge_space space, uint64_t from);
/* Return the address, or the one with its new tag. */
uint64_t merge_address(struct merge_work *w, uint64_t addr);

/* Return the output's number for a process of the current input. */
int32_t merge_pid(struct merge_work *w, int32_t pid);

/* Begin a frame, whose body the caller then encodes into w->out. */
void merge_begin(struct merge_work *w, uint8_t type);

/* Write the frame. A body that is too long is cut. */
void merge_end(struct merge_work *w);

/* Write one chunk of an embedded file. */
void merge_chunk(struct merge_work *w, const char *path, const void *data, size_t n,
                 bool is_last);

/* merge_frames.c: merge the frame w->in of any type. Return 0 or a negative errno. */
int merge_frame(struct merge_work *w);

/* merge_files.c: merge the frame w->in, a chunk of an embedded file. Return 0 or a negative
 * errno. */
int merge_file(struct merge_work *w);

/* merge_tasks.c: begin the tasks of the current input. */
void merge_tasks_begin(struct merge_work *w);

/* merge_tasks.c: merge a chunk of tasks. */
void merge_tasks(struct merge_work *w, const struct jsp_read_chunk *c);

/* merge_tasks.c: return the number of a task in the output. */
uint64_t merge_task(struct merge_work *w, uint64_t number);

/* merge_tasks.c: merge the definitions of a chunk of jsprof/labels. */
void merge_labels(struct merge_work *w, const struct jsp_read_chunk *c);

/* merge_tasks.c: return the number of labels in the output. */
uint64_t merge_label(struct merge_work *w, uint64_t number);

/* After the last input, write what was gathered, the symbols and the session's
 * account. */
int merge_finish(struct merge_work *w);

#endif
