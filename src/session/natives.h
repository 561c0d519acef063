/* session/natives.h - the native addresses of a session: what is mapped, what has a
 * name, and both of it into the capture.
 *
 * The drain's, like the output. Reads /proc/self/maps and ELF files, so never with
 * the session's lock held for longer than a look at a cache. The map is read again when
 * the loader has news or an address was met that it does not show; names are looked up at
 * growing distances, and before what the loader has closed is forgotten.
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
    struct jsp_maps maps;      /* as of the last refresh that read it */
    struct jsp_maps since;     /* read later, for an address that `maps` does not show */
    bool has_looked;           /* `since` is of now; once between two refreshes */
    bool is_stale;             /* an address was met that the map does not show */
    uint64_t settle_ns, pause_ns; /* when to look up names next; how long then to wait */
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

enum jsp_natives_news {
    JSP_NATIVES_SAME,   /* as far as the loader knows */
    JSP_NATIVES_OPENED, /* objects came, none went */
    JSP_NATIVES_CLOSED,
    JSP_NATIVES_LAST,   /* there will be no other refresh */
};

/* Look at the process's map again where that is needed; append a MAP frame for what is
 * new, and name addresses that were noted. What could not be done now is done the next
 * time. */
void jsp_natives_refresh(struct jsp_natives *natives, struct jsp_writer *w,
                         enum jsp_natives_news news);

/* Append `__symbols__`. -ENOMEM, -ENOBUFS. */
int jsp_natives_bundle(struct jsp_natives *natives, struct jsp_writer *w);

#endif
