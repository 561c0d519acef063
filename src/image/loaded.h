/* image/loaded.h - the loader's data on each object: where its code and its .eh_frame
 * are, and a copy of the latter.
 *
 * Outside the handler only: dl_iterate_phdr takes the loader's lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_LOADED_H
#define JSP_IMAGE_LOADED_H

#include <sys/types.h>

#include "elf.h"
#include "sigsafe/live.h"

struct jsp_loaded {
    uint64_t start, end;   /* executable memory */
    /* hash of name, layout and table: another object at this place has another one */
    uint64_t identity;
    uint64_t eh_frame;     /* address; 0: none */
    uint64_t eh_end;       /* upper bound of its end */
    /* its sorted header, from which the handler can read single records; 0: none, or the
     * kernel does not copy */
    uint64_t header;
    uint64_t n_sorted;     /* its number of entries */
    uint64_t n_id;         /* bytes of the build id in its memory; 0: none */
    uint8_t id[JSP_ELF_BUILD_ID];
};

/* The loader's counters at the last walk, by which a walk finds out if anything is
 * new. */
struct jsp_loaded_seen {
    uint64_t adds, subs;
};

/* Called with the loader's lock held, for each object with code. A result other than 0
 * ends the walk. */
typedef int (*jsp_loaded_fn)(void *arg, const struct jsp_loaded *loaded);

/* Report all objects and update *seen. Return 1, without any report, if the counters in
 * *seen are still right. Otherwise return 0, or the callback's result, or -EAGAIN if
 * another thread forks, or -ENOMEM; some objects were then not reported. */
int jsp_loaded_each(struct jsp_loaded_seen *seen, pid_t pid, jsp_loaded_fn each, void *arg);

/* Return a function that finds an object without the loader's lock, or NULL if this C
 * library has none. */
jsp_live_find_sigsafe_fn jsp_loaded_find(void);

/* Make a private copy of the object's .eh_frame, which the caller frees; n = 0 if the
 * object has none that can be read. Return 0 or -ENOMEM. Call this while the loader's
 * lock keeps the object loaded. */
int jsp_loaded_copy(const struct jsp_loaded *loaded, pid_t pid,
                    struct jsp_ehframe_section *section);

#endif
