/* session/natives.h - the native addresses of a session: what is mapped, what has a
 * name, and both of it into the capture.
 *
 * The drain's, like the output. Reads /proc/self/maps and ELF files, so never with
 * the session's lock held for longer than a look at a cache.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_NATIVES_H
#define JSP_SESSION_NATIVES_H

#include "capture/writer.h"
#include "image/maps.h"
#include "image/symbols_bundle.h"

enum { JSP_NATIVES_CACHE = 4096 }; /* power of two */

struct jsp_natives {
    struct jsp_bundle *bundle; /* owned */
    struct jsp_maps maps;      /* as of the last refresh, or a look in between */
    bool has_looked;           /* once between two refreshes */
    uint64_t *told;            /* owned: sorted starts of the maps that have a MAP frame */
    size_t n_told;
    struct jsp_natives_seen {
        uint64_t addr;
        bool in_file;
    } seen[JSP_NATIVES_CACHE];
};

/* -ENOMEM. */
int jsp_natives_open(struct jsp_natives *natives);
void jsp_natives_close(struct jsp_natives *natives);

/* Note an address of a sample. True: it lies in code of a file. */
bool jsp_natives_see(struct jsp_natives *natives, uint64_t addr);

/* Look at the process's map again; append a MAP frame for what is new, and name the
 * addresses that were noted. What could not be done now is done the next time. */
void jsp_natives_refresh(struct jsp_natives *natives, struct jsp_writer *w);

/* Append `__symbols__`. -ENOMEM, -ENOBUFS. */
int jsp_natives_bundle(struct jsp_natives *natives, struct jsp_writer *w);

#endif
