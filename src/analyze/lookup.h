/* analyze/lookup.h - names of addresses, as the capture itself defines them.
 *
 * The sources are JITMAP frames, MAP frames, the embedded files __symbols__,
 * jsprof/frames and jsprof/loops. An address may be defined again. An "epoch" counts the
 * moments after which older definitions no longer hold for all addresses; every
 * definition and every stack has the epoch in which it was seen. A stack uses the newest
 * definition that is not younger than itself (or, if there is none, the first younger
 * one). So a redefinition renames nothing that was sampled before it. Fill, then seal,
 * then look up. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_LOOKUP_H
#define JSP_ANALYZE_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "capture/read.h"

struct jsp_lookup_jit { /* a JITMAP entry, sorted by (addr, pid, epoch) */
    uint64_t addr;
    struct jsp_read_text name;
    int32_t pid;
    uint32_t epoch;
};

struct jsp_lookup_map { /* a MAP, sorted by (pid, start, epoch) */
    uint64_t start, end, offset, inode;
    struct jsp_read_text path, build_id;
    int32_t pid;
    uint32_t epoch;
};

struct jsp_lookup_symbol { /* an entry of __symbols__, sorted by (pid, begin) */
    uint64_t begin, end;
    struct jsp_read_text name, module; /* module: the writer's tag */
    uint32_t pid;
};

struct jsp_lookup_loop { /* code of an interpreter's loop, sorted by (pid, start) */
    uint64_t start, end;
    int32_t pid;
};

struct jsp_lookup_kind { /* a record of jsprof/frames, sorted by id */
    uint32_t id, kind;
};

struct jsp_lookup {
    struct jsp_lookup_jit *jits;
    struct jsp_lookup_map *maps;
    struct jsp_lookup_symbol *symbols;
    struct jsp_lookup_kind *kinds;
    struct jsp_lookup_loop *loops;
    uint32_t n_jits, jits_room, n_maps, maps_room;
    uint32_t n_symbols, symbols_room, n_kinds, kinds_room;
    uint32_t n_loops, loops_room;
    struct jsp_hash latest; /* (addr, pid) -> its newest entry in jits, during filling */
    uint8_t *symbol_bytes;   /* __symbols__, joined; symbols borrow from it */
    uint32_t symbol_len, symbol_room;
};

/* An address with its process and epoch, for a look-up. */
struct jsp_lookup_key {
    uint64_t addr;
    int32_t pid;
    uint32_t epoch;
};

/* Lay out empty tables. Return 0 or -ENOMEM. */
int jsp_lookup_init(struct jsp_lookup *n);

/* Free the tables. */
void jsp_lookup_free(struct jsp_lookup *n);

/* Return true if this definition would rename an existing one. */
bool jsp_lookup_renames(const struct jsp_lookup *n, uint64_t addr, int32_t pid,
                        struct jsp_read_text name);

/* Add the name of an address. Return 0 or -ENOMEM. */
int jsp_lookup_define(struct jsp_lookup *n, struct jsp_lookup_key key,
                      struct jsp_read_text name);

/* Add a mapping. Return 0 or -ENOMEM. */
int jsp_lookup_map_add(struct jsp_lookup *n, const struct jsp_read_map *map, int32_t pid,
                       uint32_t epoch);

/* Add a chunk of symbols. Return 0 or -ENOMEM. */
int jsp_lookup_symbols_add(struct jsp_lookup *n, const uint8_t *data, uint32_t len);

/* Add a chunk of jsprof/frames. Return 0, -ENOMEM, or -EBADMSG for a bad record. */
int jsp_lookup_kinds_add(struct jsp_lookup *n, const uint8_t *at, const uint8_t *end);

/* Add a chunk of jsprof/loops. Return 0, -ENOMEM, or -EBADMSG for a bad record. */
int jsp_lookup_loops_add(struct jsp_lookup *n, const uint8_t *at, const uint8_t *end,
                         int32_t pid); /* also -EBADMSG, like jsp_lookup_kinds_add */

/* Call this after the last definition. Return the number of unreadable symbols, or
 * -ENOMEM. */
int jsp_lookup_seal(struct jsp_lookup *n, const struct jsp_read *capture);

/* Return the name of an address of generated code, or NULL if it is unknown. */
const struct jsp_lookup_jit *jsp_lookup_jit(const struct jsp_lookup *n,
                                            struct jsp_lookup_key k);

/* Return the mapping of an address, or NULL if it is unknown. */
const struct jsp_lookup_map *jsp_lookup_map(const struct jsp_lookup *n,
                                            struct jsp_lookup_key k);

/* Return the symbol of an address, or NULL if it is unknown. */
const struct jsp_lookup_symbol *jsp_lookup_symbol(const struct jsp_lookup *n,
                                                  struct jsp_lookup_key k);

/* Find the kind of a tagged address. Return false if it is unknown. */
bool jsp_lookup_kind(const struct jsp_lookup *n, uint32_t id, uint32_t *kind);

/* Return true if the address lies in an interpreter's loop. */
bool jsp_lookup_is_loop(const struct jsp_lookup *n, struct jsp_lookup_key k);

#endif
