/* session/perfmap.h - registered code for perf: /tmp/perf-PID.map and jitdump.
 *
 * Both files are written at once, by the thread that registers, under the codes' lock. A
 * file that takes no more is closed after its last whole entry, and the first error is
 * kept; the capture is not affected.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_PERFMAP_H
#define JSP_SESSION_PERFMAP_H

#include "code.h"

struct jsp_perfmap {
    int map_fd, dump_fd; /* owned; -1: not wanted, or closed after an error */
    void *marker;        /* the executable mapping by which perf finds the dump */
    uint64_t index;      /* number of the next function in the dump */
    int error;           /* the first errno of a write, negative; 0: none */
};

/* A range and its name for perf. */
struct jsp_perfmap_code {
    uint64_t start, length;
    const char *name;
    uint64_t time_ns;
};

/* Lay out without files. */
void jsp_perfmap_init(struct jsp_perfmap *perf);

/* Create the map. Return 0 or a negative errno: -ELOOP for a symbolic link, -EEXIST for
 * something else than a plain file of this user, -ETXTBSY for another session's file. */
int jsp_perfmap_open_map(struct jsp_perfmap *perf);

/* Create the dump, in the folder of the file `beside`. Errors as jsp_perfmap_open_map,
 * -ENAMETOOLONG or -EIO. */
int jsp_perfmap_open_dump(struct jsp_perfmap *perf, const char *beside);

/* Append the range to the files that are open. */
void jsp_perfmap_add(struct jsp_perfmap *perf, const struct jsp_perfmap_code *code);

/* Complete the files. */
void jsp_perfmap_close(struct jsp_perfmap *perf);

/* Close without writing: in the child of a fork the files are the parent's. */
void jsp_perfmap_abandon(struct jsp_perfmap *perf);

#endif
