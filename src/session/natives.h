/* session/natives.h - the native addresses of a session: mappings, names, and their
 * frames in the capture.
 *
 * Only the drain uses it, like the output; any thread may call jsp_natives_symbol. It reads
 * /proc/self/maps and ELF files, so it is never called with the session's lock, except to look
 * into a cache. The map is read again if the loader has news or an address was found that the
 * map lacks. Names are looked up at growing intervals, and before the data of a closed object
 * are dropped.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_NATIVES_H
#define JSP_SESSION_NATIVES_H

#include "capture/writer.h"
#include "image/maps.h"
#include "image/objects.h"
#include "image/symbols_bundle.h"

enum { JSP_NATIVES_CACHE = 4096 }; /* power of two */

struct jsp_natives {
    struct jsp_bundle *bundle; /* owned */
    const struct jsp_objects *objects; /* borrowed: the loaded objects; NULL: not known */
    struct jsp_maps maps;      /* as of the last refresh that read the map */
    struct jsp_maps since;     /* read later, for an address that `maps` lacks */
    bool has_looked; /* `since` is current; at most once between two refreshes */
    bool is_stale;             /* an address was found that the map lacks */
    bool has_seen;             /* `seen` is not all zero */
    /* time of the next look-up of names; the wait after that */
    uint64_t settle_ns, pause_ns;
    uint64_t *written; /* owned: sorted keys of the mappings that have a MAP frame */
    size_t n_written;
    struct jsp_natives_seen {
        uint64_t addr;
        bool in_file;
    } seen[JSP_NATIVES_CACHE];
};

/* Open with an empty map and bundle. Return 0 or -ENOMEM. */
int jsp_natives_open(struct jsp_natives *natives);

/* Free everything. May be called again. */
void jsp_natives_close(struct jsp_natives *natives);

/* Begin anew for another file, with a new bundle, which it then owns. The names that the host
 * gave stay. */
void jsp_natives_renew(struct jsp_natives *natives, struct jsp_bundle *bundle);

/* Note an address of a sample. Return true if it lies in the code of a file. */
bool jsp_natives_see(struct jsp_natives *natives, uint64_t addr);

/* Copy the name of the function that begins at `addr`. Return false if no symbol is there. */
bool jsp_natives_function(struct jsp_natives *natives, uint64_t addr, char out[JSP_SYMBOL_NAME]);

/* Do the same for any address of this process, without a session. Return 0, -ENOENT if no symbol
 * begins there, or -ENOMEM. */
int jsp_natives_symbol(uint64_t addr, char out[JSP_SYMBOL_NAME]);

enum jsp_natives_news {
    JSP_NATIVES_SAME,   /* no news from the loader */
    JSP_NATIVES_OPENED, /* objects were opened, none was closed */
    JSP_NATIVES_CLOSED,
    JSP_NATIVES_LAST,   /* this is the last refresh */
};

/* Read the process's map again if needed; append a MAP frame for each new mapping, and
 * name the noted addresses. Steps that are impossible now are done the next time. */
void jsp_natives_refresh(struct jsp_natives *natives, struct jsp_writer *w,
                         enum jsp_natives_news news);

/* Append `__symbols__`. Return 0, -ENOMEM or -ENOBUFS. */
int jsp_natives_bundle(struct jsp_natives *natives, struct jsp_writer *w);

#endif
