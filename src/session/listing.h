/* session/listing.h - the bytecode of functions, and which of its rows were sampled.
 *
 * A listing is put into the bytes of jsprof/listings when it is registered, and goes into
 * the file when a sample has met its function: once. A frame finds the listing by its
 * name, whatever its kind, so that interpreted and compiled code share one.
 *
 * As the output: the drain's, or who holds the session.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_LISTING_H
#define JSP_SESSION_LISTING_H

#include "base/hash.h"
#include "capture/writer.h"
#include "frames.h"
#include "sigsafe/arena.h"

enum {
    JSP_LISTINGS_BYTES = 32 << 20, /* of memory, for all of them */
    JSP_PCS_BLOCK = 1 << 15,       /* bytes of jsprof/pcs before they become a chunk */
};

struct jsp_listing {
    char *name;               /* owned, like the arrays */
    uint32_t number, n_rows;
    uint64_t *pcs;            /* of the rows */
    uint8_t *bytes;           /* records, a length of 4 bytes before each */
    size_t n_bytes, told;     /* told: of them in the file */
    bool is_wanted;           /* a sample met it */
    bool is_shared;           /* another function of this name has another listing... */
    bool is_shared_told;      /* ... and the file says so */

    /* Always: told <= n_bytes, at the beginning of a record */
};

struct jsp_listings {
    const struct jsp_arena *arena; /* borrowed */
    struct jsp_hash by_name;
    struct jsp_listing **at;       /* owned; by number */
    uint32_t n, room;
    size_t bytes;                  /* of memory in use */
    uint32_t unsettled;            /* listings before it have nothing left to write */
    uint32_t *of_id;               /* owned; by label: number + 1, or n with the top bit */
};

/* See jsprof_listing_add. */
int jsp_listings_add(struct jsp_listings *all, const jsprof_listing *listing);

/* The row, from 1, that this label's function is at; 0: not known. */
uint32_t jsp_listings_row(struct jsp_listings *all, uint32_t label, uint64_t pc);

/* What was met and is not in the file yet. 0 or -ENOBUFS: some of it has to wait. */
int jsp_listings_write(struct jsp_listings *all, struct jsp_writer *w);
void jsp_listings_free(struct jsp_listings *all);

/* Rows of samples, on their way to jsprof/pcs. */
struct jsp_pcs {
    uint64_t first;    /* ordinal of the first sample in `block` that has any */
    uint64_t next;     /* ordinal behind the last one */
    uint32_t count, used;
    uint8_t block[JSP_PCS_BLOCK];
};

/* Is there room for a sample of n frames, if need be after a write? */
bool jsp_pcs_has_room(struct jsp_pcs *pcs, struct jsp_writer *w, uint32_t n);

/* The rows of these frames, of sample `ordinal`. There must be room. */
void jsp_pcs_put(struct jsp_pcs *pcs, struct jsp_listings *all,
                 const struct jsp_frames *frames, uint64_t ordinal);
void jsp_pcs_write(struct jsp_pcs *pcs, struct jsp_writer *w);
void jsp_pcs_drop(struct jsp_pcs *pcs);

#endif
