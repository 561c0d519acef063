/* serve/push_record.h - the process of `jsprof push` that records, and what it shares with the
 * one that sends.
 *
 * A failure is one line on standard error.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_PUSH_RECORD_H
#define JSP_SERVE_PUSH_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "cli/options.h"
#include "fleet.h"
#include "post.h"
#include "queue.h"

enum { PUSH_HEADERS = 1024 };

enum push_kind { PUSH_PYROSCOPE, PUSH_PUSHER, PUSH_PARCA, PUSH_OTLP, PUSH_FOLDER };

/* What both processes count. */
struct push_counts {
    uint64_t profiles, bytes; /* made */
    uint64_t dropped;         /* for lack of room, or since they could not be put there at all */
    uint64_t failed_windows;
    uint32_t windows;
    _Atomic uint64_t locked;  /* of the queue */
};

struct push {
    const char *command;
    enum push_kind kind;
    struct post_to to;
    const char *folder, *tenant;
    const char *labels[CLI_VALUES];
    uint32_t n_labels;
    char headers[PUSH_HEADERS];
    struct fleet_ask ask;
    uint32_t windows;
    const char *from; /* a folder of captures; NULL: record */
    bool removes;     /* remove each of them when its profile is in the queue */
    time_t since, until; /* of the capture of that folder; 0: of the window that ends now */
    struct queue queue;
    struct push_counts *counts; /* shared */
    bool is_stuck;     /* in the child: nothing can be put into the queue, which is said */
    pid_t child;       /* which records; 0: none does */
    int64_t again_at;  /* when the next one begins, in ms of the monotonic clock; 0: never */
    uint32_t deaths;
    uint32_t before;   /* in the queue, from earlier calls */
    uint64_t sent, refused, lost;
    bool is_failing, is_unreadable, has_odd; /* said: the engine, the queue, something in it */
    bool is_drained;   /* the queue has nothing that can be sent */
};

/* Record window after window, or read the captures of the folder, and put the requests into the
 * queue; the child does that. */
void push_record(struct push *p);

#endif
