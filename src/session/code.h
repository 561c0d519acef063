/* session/code.h - code that comes and goes: which function was at this address then?
 *
 * Every registered range lives from its add to its remove, both in CLOCK_MONOTONIC
 * as the samples are, and is kept until the drain has read every sample of its
 * time. So a sample that is resolved late still finds the code of its own moment,
 * and reuse of an address can not mislead.
 *
 * Any thread; one lock of its own, which the handler never needs.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_CODE_H
#define JSP_SESSION_CODE_H

#include <pthread.h>

#include "sigsafe/jitrows.h"

struct jsp_code_line {
    uint32_t offset; /* from the range's start; ascending */
    uint32_t line;
};

/* One range in its time. Immutable but for `death` and `doomed`. */
struct jsp_code {
    uint64_t start, end;
    uint64_t birth, death; /* death UINT64_MAX: still there */
    uint64_t doomed;       /* the moment at which a prune first met it dead; 0: none has */
    uint32_t label;        /* id in the session's arena */
    uint32_t n_lines, n_rows, n_pcs;
    jsprof_code_row *rows; /* behind the lines; NULL: by frame pointer */
    jsprof_code_pc *pcs;   /* behind the rows; NULL: none */
    struct jsp_code_line lines[];
};
_Static_assert(offsetof(struct jsp_code, lines) % 8 == 0, "pcs are aligned behind lines");

struct jsp_codes {
    pthread_mutex_t lock;
    struct jsp_jitrows handler; /* the living ranges, as the handler sees them */
    struct jsp_jitrows_slot *outgrown[32]; /* owned: arrays that handlers may still read */
    uint32_t n_outgrown;
    struct jsp_code **at;   /* owned: the living, sorted by start */
    uint32_t n, capacity;
    struct jsp_code **dead; /* owned: sorted by death */
    uint32_t n_dead, dead_capacity;
    uint32_t crowded_at;    /* so many dead ones call for a prune */

    /* Always: the living ranges do not overlap; n + n_dead <= dead_capacity */
};

struct jsp_code_def {
    uint64_t start, length; /* length > 0 */
    uint32_t label;
    const struct jsp_code_line *lines; /* copied; may be NULL */
    uint32_t n_lines;
    const jsprof_code_row *rows; /* copied; NULL: by frame pointer */
    uint32_t n_rows;
    const jsprof_code_pc *pcs; /* copied; may be NULL */
    uint32_t n_pcs;
};

struct jsp_code_hit {
    uint32_t label;
    uint32_t line; /* 0: unknown */
    uint64_t pc;   /* 0: none */
};

void jsp_codes_init(struct jsp_codes *codes);
void jsp_codes_free(struct jsp_codes *codes);

/* What lives in the same bytes dies. -EINVAL, -ENOMEM. */
int jsp_codes_add(struct jsp_codes *codes, const struct jsp_code_def *def, uint64_t now_ns);

/* -ENOENT: nothing lives that starts there. */
int jsp_codes_remove(struct jsp_codes *codes, uint64_t start, uint64_t now_ns);

/* The same; `moved` tells start, length and label of where it is now. */
int jsp_codes_move(struct jsp_codes *codes, uint64_t from, uint64_t to, uint64_t now_ns,
                   struct jsp_code_def *moved);

/* What was at `ip` at that time? */
bool jsp_codes_find(struct jsp_codes *codes, uint64_t ip, uint64_t time_ns,
                    struct jsp_code_hit *hit);

/* No sample from before this moment will be asked for any more, and no handler that
 * began before it still runs. What it finds dead is freed at a later moment's prune. */
void jsp_codes_prune(struct jsp_codes *codes, uint64_t before_ns);

/* Have so many died since the last prune, or since this said so, that one is due? */
bool jsp_codes_are_crowded(struct jsp_codes *codes);

#endif
