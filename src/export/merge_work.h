/* export/merge_work.h - a merge under way; for the merge*.c files only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_MERGE_WORK_H
#define JSP_EXPORT_MERGE_WORK_H

#include "analyze/samples.h"
#include "capture/encode.h"
#include "export/merge.h"
#include "export/sides.h"

enum merge_space { MERGE_TAG, MERGE_COUNTER, MERGE_ACCOUNT, MERGE_PID, MERGE_SPACES };

/* What a number of an input is called in the output. */
struct merge_number {
    uint64_t from, to;
    uint32_t input;
    enum merge_space space;
};

struct merge_pid { /* a process of the output */
    int32_t pid;
    struct jsp_read_text command;
};

struct merge_file { /* an embedded file of the output, and whose it is */
    struct jsp_read_text path;
    uint32_t input;
};

struct merge_work {
    struct jsp_merge *m;
    uint32_t input;             /* the one that is being read */
    int64_t shift;              /* of its times */
    struct jsp_read_cursor cursor;
    struct jsp_read_frame in;
    struct jsp_samples samples;

    struct jsp_hash by_from;
    struct merge_number *numbers;
    uint32_t n_numbers, numbers_room;
    uint64_t last[MERGE_SPACES]; /* the last number given */
    struct jsp_hash by_pid;
    struct merge_pid *pids;
    uint32_t n_pids, pids_room;
    struct merge_file *files;
    uint32_t n_files, files_room;

    struct jsp_sides sides;
    struct jsp_bytecode_pcs pcs;       /* of the first input */
    uint32_t rows[JSP_PROFILE_DEPTH];
    struct jsp_bytes text;             /* lines or records in the making */
    struct jsp_encode out;             /* the frame in the making, in: */
    uint8_t frame[JSP_WIRE_MAX_FRAME];
    bool has_failed; /* for want of memory */
    bool has_samples, has_pcs, has_frames, has_loops, has_losses; /* such a file was begun */
};

/* The number in the output of a number of the current input; has_failed may be set. */
uint64_t merge_number(struct merge_work *w, enum merge_space space, uint64_t from);
uint64_t merge_address(struct merge_work *w, uint64_t addr); /* as it is, or its tag's */
int32_t merge_pid(struct merge_work *w, int32_t pid);

/* One frame of the output: begin, encode its body into w->out, end. What is too long is cut. */
void merge_begin(struct merge_work *w, uint8_t type);
void merge_end(struct merge_work *w);

/* A piece of an embedded file. */
void merge_chunk(struct merge_work *w, const char *path, const void *data, size_t n,
                 bool is_last);

/* The frame w->in, whatever it is: merge_frames.c; an embedded file: merge_files.c. */
int merge_frame(struct merge_work *w);
int merge_file(struct merge_work *w);

/* After the last input: what is gathered, symbols, the sessions' last words. */
int merge_finish(struct merge_work *w);

#endif
