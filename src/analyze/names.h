/* analyze/names.h - addresses -> names, as the capture itself defines them.
 *
 * SPDX-License-Identifier: MIT
 *
 * JITMAP frames, MAP frames, the embedded files __symbols__ and jsprof/frames. An
 * address may be defined again: "epoch" counts the moments at which what came before
 * ceased to be the whole truth, every definition and every stack carries the epoch it
 * was seen in, and a stack takes the newest definition that is not younger than it
 * (or, where there is none, the first that is). So a redefinition renames nothing
 * that was sampled before it. Fill, then seal, then look up. One thread.
 */
#ifndef JSP_ANALYZE_NAMES_H
#define JSP_ANALYZE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/table.h"
#include "capture/read.h"

struct jsp_names_jit { /* a JITMAP entry, sorted by (addr, pid, epoch) */
    uint64_t addr;
    struct jsp_read_text name;
    int32_t pid;
    uint32_t epoch;
};

struct jsp_names_map { /* a MAP, sorted by (pid, start, epoch) */
    uint64_t start, end, offset;
    struct jsp_read_text path;
    int32_t pid;
    uint32_t epoch;
};

struct jsp_names_symbol { /* an entry of __symbols__, sorted by (pid, begin) */
    uint64_t begin, end;
    struct jsp_read_text name;
    uint32_t pid;
};

struct jsp_names_kind { /* a record of jsprof/frames, sorted by id */
    uint32_t id, kind;
};

struct jsp_names {
    struct jsp_names_jit *jits;
    struct jsp_names_map *maps;
    struct jsp_names_symbol *symbols;
    struct jsp_names_kind *kinds;
    uint32_t n_jits, jits_room, n_maps, maps_room;
    uint32_t n_symbols, symbols_room, n_kinds, kinds_room;
    struct jsp_table latest; /* (addr, pid) -> its newest entry in jits, while filling */
    uint8_t *symbol_bytes;   /* __symbols__, put together; symbols borrow from it */
    uint32_t symbol_len, symbol_room;
};

/* Where an address stands, for a lookup. */
struct jsp_names_key {
    uint64_t addr;
    int32_t pid;
    uint32_t epoch;
};

int jsp_names_init(struct jsp_names *n);
void jsp_names_free(struct jsp_names *n);

/* All: -ENOMEM. Would defining this rename what is already there? */
bool jsp_names_renames(const struct jsp_names *n, uint64_t addr, int32_t pid,
                       struct jsp_read_text name);
int jsp_names_define(struct jsp_names *n, struct jsp_names_key key,
                     struct jsp_read_text name);
int jsp_names_map_add(struct jsp_names *n, const struct jsp_read_map *map, int32_t pid,
                      uint32_t epoch);
int jsp_names_symbols_add(struct jsp_names *n, const uint8_t *data, uint32_t len);
int jsp_names_kinds_add(struct jsp_names *n, const uint8_t *at, const uint8_t *end);

/* After the last of them. Returns the number of unreadable symbols, or -ENOMEM. */
int jsp_names_seal(struct jsp_names *n, const struct jsp_read *capture);

/* NULL: not known. */
const struct jsp_names_jit *jsp_names_jit(const struct jsp_names *n, struct jsp_names_key k);
const struct jsp_names_map *jsp_names_map(const struct jsp_names *n, struct jsp_names_key k);
const struct jsp_names_symbol *jsp_names_symbol(const struct jsp_names *n,
                                                struct jsp_names_key k);
bool jsp_names_kind(const struct jsp_names *n, uint32_t id, uint32_t *kind);

#endif
