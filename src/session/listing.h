/* session/listing.h - the bytecode of functions, and which of its rows were sampled.
 *
 * A listing becomes bytes of jsprof/listings when it is registered. It is written into
 * the file once, after a sample has met its function. A frame of any kind finds the
 * listing by its name, so interpreted and compiled code share one.
 *
 * Used by the owner of the output: the drain, or the holder of the session's lock.
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
    JSP_LISTINGS_BYTES = 32 << 20, /* bytes of memory for all listings */
    JSP_PCS_BLOCK = 1 << 15,       /* bytes of jsprof/pcs in one chunk */
};

struct jsp_listing {
    char *name;               /* owned, like the arrays */
    uint32_t number, n_rows;
    uint64_t *pcs;            /* the first pc of each row */
    uint8_t *bytes;           /* records, each after its length of 4 bytes */
    size_t n_bytes, written;     /* written: bytes already in the file */
    bool is_wanted;           /* a sample met the function */
    bool is_shared;           /* another function of this name has another listing */
    bool is_shared_written;      /* the file records that */

    /* Always: written <= n_bytes, and written is where a record begins. */
};

struct jsp_listings {
    const struct jsp_arena *arena; /* borrowed */
    struct jsp_hash by_name;
    struct jsp_listing **at;       /* owned; index: number */
    uint32_t n, room;
    size_t bytes;                  /* memory in use */
    uint32_t unsettled; /* the listings before this number have nothing left to write */
    /* owned; index: label; number + 1, or how many listings were searched in vain, with
     * the top bit set */
    uint32_t *of_id;
};

/* See jsprof_listing_add. */
int jsp_listings_add(struct jsp_listings *all, const jsprof_listing *listing);

/* Return the row, from 1, that contains `pc` in this label's function, or 0 if it is not
 * known. */
uint32_t jsp_listings_row(struct jsp_listings *all, uint32_t label, uint64_t pc);

/* Write the listings that were met and are not in the file yet. Returns 0 or -ENOBUFS:
 * some of them have to wait. */
int jsp_listings_write(struct jsp_listings *all, struct jsp_writer *w);

/* Free all listings. The arena stays. */
void jsp_listings_free(struct jsp_listings *all);

/* Keep the listings, none of which is in the file or was met. */
void jsp_listings_renew(struct jsp_listings *all);

/* The rows of samples before they go into jsprof/pcs. */
struct jsp_pcs {
    uint64_t first;    /* number of the first sample in `block` that has rows */
    uint64_t next;     /* number after that of the last sample */
    uint32_t count, used;
    uint8_t block[JSP_PCS_BLOCK];
};

/* Return true if there is room for a sample of n frames. Write the block first if there is
 * not. */
bool jsp_pcs_has_room(struct jsp_pcs *pcs, struct jsp_writer *w, uint32_t n);

/* Add the rows of these frames, which belong to sample number `ordinal`. There must be
 * room. */
void jsp_pcs_put(struct jsp_pcs *pcs, struct jsp_listings *all,
                 const struct jsp_frames *frames, uint64_t ordinal);

/* Write the block, if it has samples, and begin the next one. On an error it stays. */
void jsp_pcs_write(struct jsp_pcs *pcs, struct jsp_writer *w);

/* Begin the next block without writing this one. */
void jsp_pcs_drop(struct jsp_pcs *pcs);

#endif
