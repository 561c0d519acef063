/* image/loaded.h - what the loader knows of each object: where its code and its
 * .eh_frame are, and a copy of the latter.
 *
 * Outside the handler only: dl_iterate_phdr takes the loader's lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_LOADED_H
#define JSP_IMAGE_LOADED_H

#include <sys/types.h>

#include "sigsafe/live.h"

struct jsp_loaded {
    uint64_t start, end;   /* executable memory */
    uint64_t identity;     /* of name, layout and table: another object here differs */
    uint64_t eh_frame;     /* address; 0: none */
    uint64_t eh_end;       /* it does not reach further */
};

/* Is there something new? Counters go in and come out. */
struct jsp_loaded_seen {
    uint64_t adds, subs;
};

/* Called with the loader's lock held, for each object that has code. Not 0: stop. */
typedef int (*jsp_loaded_fn)(void *arg, const struct jsp_loaded *loaded);

/* Report all objects, unless the counters are those in *seen; then 1. Else 0, or what
 * the callback answered. -EAGAIN: another thread forks; not all objects were reported. */
int jsp_loaded_each(struct jsp_loaded_seen *seen, pid_t pid, jsp_loaded_fn each, void *arg);

/* What finds an object without the loader's lock; NULL: this C library has nothing. */
jsp_live_find_sigsafe_fn jsp_loaded_find(void);

/* A private copy of the object's .eh_frame, to be freed; n = 0: it has none that can
 * be read. -ENOMEM. Call it while the loader's lock keeps the object. */
int jsp_loaded_copy(const struct jsp_loaded *loaded, pid_t pid,
                    struct jsp_ehframe_section *section);

#endif
