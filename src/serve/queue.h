/* serve/queue.h - requests that wait in a folder until an engine takes them.
 *
 * Each is a file, which is there whole or not at all: a process that is killed loses none. When
 * the folder is full, the oldest ones make place. Two processes of one command may use a folder
 * at once: one puts, one takes. The command has a lock on the folder, so that no other command
 * does. A folder that is removed meanwhile is made again; if another command makes it first, it can
 * not be used until that one ends.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_QUEUE_H
#define JSP_SERVE_QUEUE_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "export/sink.h"

enum { QUEUE_NAME = 64, QUEUE_WORD = 1024 };

struct queue {
    int folder;      /* owned */
    uint64_t most;   /* bytes */
    char path[PATH_MAX];
    bool is_another; /* the folder was removed, and is made again; the user clears it */
    char odd[QUEUE_NAME]; /* what queue_take has skipped, the oldest; "": nothing */
    int odd_err;          /* why: a negative errno; 0: it is no regular file */
    char left[QUEUE_NAME]; /* sent, but it can not be removed: see queue_remove; "": nothing */
    /* the folder that one of our processes has locked, in memory that they share; NULL: there is
     * only this process */
    _Atomic uint64_t *locked;
};

/* Open the folder, and make it and its parents (0700) if they are not there. What an interrupted
 * put has left is removed. The lock ends with the last process that inherits the descriptor.
 * Return 0, -EWOULDBLOCK while another command has the lock (so do all functions below, if that one
 * has made a folder that was removed), or another negative errno. */
int queue_open(struct queue *q, const char *path, uint64_t most);

/* Close the folder. May be called again. */
void queue_close(struct queue *q);

/* Remove what an interrupted put has left. */
void queue_tidy(struct queue *q);

/* Add a request; *dropped is increased by how many older ones made place, or by one if it alone is
 * too large. Return 0 or a negative errno. */
struct queue_item {
    const char *path, *type; /* of the POST; without line ends */
    const void *body;
    size_t n;
};
int queue_put(struct queue *q, const struct queue_item *item, uint64_t *dropped);

/* The oldest request. */
struct queue_taken {
    char name[QUEUE_NAME], path[QUEUE_WORD], type[QUEUE_NAME];
    struct jsp_bytes file; /* owned */
    size_t body;           /* where it begins in the file */
};

/* Read it; it stays. Return 1, 0: there is none, or a negative errno. One that is no request, or
 * larger than the bound, is removed, and increases *dropped. What is no regular file, or can not
 * be read, is skipped. Free `file` in any case. */
int queue_take(struct queue *q, struct queue_taken *out, uint64_t *dropped);

/* Remove a request that was sent. Return 0, or a negative errno: then queue_take tries it again and
 * takes nothing before it is removed, so that nothing is sent twice. */
int queue_remove(struct queue *q, const char *name);

/* Say why one of these has failed: a negative errno. */
const char *queue_error(int err);

/* Count what waits. */
uint32_t queue_waiting(struct queue *q);

#endif
