/* capture/taskfile.h - writes and reads the records of jsprof/tasks and jsprof/running.
 *
 * Numbers of tasks and times are stored as differences, whose base is a struct
 * jsp_tasks_base: zeroed at the beginning of each chunk, then the same for put and get. As in
 * embedded.h, put returns the size that it wrote, and get returns false for bytes that are no
 * record. docs/capture.md describes the bytes. Nothing here allocates or waits.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_TASKFILE_H
#define JSP_CAPTURE_TASKFILE_H

#include "read.h"
#include "varint.h"
#include "wire.h"

struct jsp_tasks_base {
    uint64_t time, task;
};

/* The frames of a stack, leaf first. */
struct jsp_tasks_frames {
    uint32_t n;
    const uint64_t *addrs; /* for put, with a line for each; get sets instead: */
    const uint32_t *lines;
    const uint8_t *packed, *end; /* for jsp_tasks_frame_get */
};

struct jsp_tasks_record {
    enum jsp_wire_tasks tag;
    union {
        int32_t tid; /* THREAD */
        struct {
            uint64_t number; /* from 1 */
            struct jsp_read_text kind, name; /* empty: none */
        } what;
        struct {
            uint64_t number; /* from 1 */
            struct jsp_tasks_frames frames;
        } stack;
        struct {
            uint64_t task, time;
            uint64_t parent;      /* 0: none; below `task` */
            uint64_t what, stack; /* 0: none */
        } made;
        struct {
            uint64_t task; /* 0: not known */
            uint64_t begin, duration;
            uint32_t depth, flags; /* JSP_WIRE_RUN_... */
        } run;
        struct {
            uint64_t task, time;
        } done;
        struct {
            uint64_t task, time;
            uint64_t by; /* the task that ran then; 0: none */
            uint64_t in; /* DUE: it may run so many ns later */
        } ready; /* READY, DUE */
        struct {
            uint64_t begin, duration;
            uint64_t inner; /* the part of it in which a loop inside it ran */
            uint32_t depth;
        } turn;
        uint64_t first;
    };
};

enum {
    JSP_TASKS_RECORD = 1 + 6 * JSP_VARINT_MAX, /* largest size, without texts and frames */
    JSP_TASKS_FRAME = 1 + 2 * JSP_VARINT_MAX,  /* the same of one frame */
};

/* Write a record to `to`, which has room for JSP_TASKS_RECORD bytes, the texts and the frames.
 * Return its length. *base is what the next record is relative to. */
size_t jsp_tasks_record_put(uint8_t *to, struct jsp_tasks_base *base,
                            const struct jsp_tasks_record *r);

/* Read a record and move *at after it. Return false if it is malformed. */
bool jsp_tasks_record_get(const uint8_t **at, const uint8_t *end, struct jsp_tasks_base *base,
                          struct jsp_tasks_record *out);

/* Walk the frames of a stack that get has checked, leaf first. */
struct jsp_tasks_frame_at {
    uint64_t tagged, plain; /* the last address of each kind; begin with zeros */
    uint32_t done;
    const uint8_t *at;      /* NULL: at the leaf */
};

/* Read the next frame. Return false after the last one. */
bool jsp_tasks_frame_get(const struct jsp_tasks_frames *frames, struct jsp_tasks_frame_at *f,
                         uint64_t *addr, uint64_t *line);

/* jsprof/running: write the task of one sample, as the difference from *last, modulo 2^64.
 * Return its length. */
size_t jsp_running_put(uint8_t *to, uint64_t *last, uint64_t task);

/* Read the task of one sample. Return false if it is malformed. */
bool jsp_running_get(const uint8_t **at, const uint8_t *end, uint64_t *last, uint64_t *task);

#endif
