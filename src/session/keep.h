/* session/keep.h - the files of a continuous recording: their names in a folder, and which of them
 * are removed.
 *
 *     PROGRAM-PID-BEGIN-NUMBER.cap     BEGIN: seconds since 1970 when the session opened
 *
 * Of its own files a session keeps the newest JSP_KEEP_FILES and one more, each of which covers at
 * most a JSP_KEEP_FILES-th of the time to keep. This counts files, so a clock that is set does no
 * harm. Files of processes of the same program and user that have ended are removed by their age,
 * and the oldest of all if their sum is too large. A file that is being written is locked, and
 * stays. Any thread, one at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_KEEP_H
#define JSP_SESSION_KEEP_H

#include <limits.h>
#include <stdint.h>

enum {
    JSP_KEEP_FILES = 24,
    JSP_KEEP_PROGRAM = 32,
    JSP_KEEP_NAME = JSP_KEEP_PROGRAM + 80,
    JSP_KEEP_SHARE = 8, /* a file has at most this part of the bytes to keep */
};

struct jsp_keep {
    char folder[PATH_MAX - JSP_KEEP_NAME]; /* absolute */
    char program[JSP_KEEP_PROGRAM];
    uint64_t begin_s;
    uint32_t number;     /* of the newest file, from 1 */
    uint32_t keep_s;
    uint64_t keep_bytes;
    uint64_t segment_ns, file_ns, file_bytes;
};

struct jsp_keep_ask {
    const char *folder;
    const char *base;    /* where a relative folder begins; NULL: the current one */
    uint32_t segment_s, keep_s, keep_mib;
};

/* Fill *k, and make the folder if it is not there. Return 0, -ENAMETOOLONG, or the errno of mkdir
 * or of looking at it (-ENOTDIR: it is a file). */
int jsp_keep_init(struct jsp_keep *k, const struct jsp_keep_ask *ask);

/* Create and lock the next file. Return its descriptor, or the errno of opening it. */
int jsp_keep_next(struct jsp_keep *k);

/* Remove what is too old, or too much. */
void jsp_keep_clean(const struct jsp_keep *k);

#endif
