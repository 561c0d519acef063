/* control/bell.h - wakes the thread that listens: a pipe of which both ends are ours.
 *
 * A host may close every descriptor and open files under their numbers. A pipe has an inode, so
 * it is known again; where it is another file, all that the thread listens on is taken for closed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CONTROL_BELL_H
#define JSP_CONTROL_BELL_H

#include <stdbool.h>
#include <sys/types.h>

struct jsp_bell {
    int ends[2]; /* owned; -1: none. The thread waits until the first one can be read */
    dev_t dev;
    ino_t ino;
};

/* Open the pipe. Return 0 or a negative errno. */
int jsp_bell_open(struct jsp_bell *b);

/* Close both ends. May be called again. */
void jsp_bell_close(struct jsp_bell *b);

/* Are both descriptors still this pipe? */
bool jsp_bell_is_ours(const struct jsp_bell *b);

/* Wake the thread that waits. Never blocks. */
void jsp_bell_ring(const struct jsp_bell *b);

/* Take what has rung out of the pipe, after the thread woke up. */
void jsp_bell_heard(const struct jsp_bell *b);

#endif
