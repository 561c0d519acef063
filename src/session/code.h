/* session/code.h - registered code that comes and goes: which function was at an address
 * when.
 *
 * Every registered range lives from its add to its remove, in the CLOCK_MONOTONIC time of
 * the samples, and is kept until the drain has read every sample of its time. So a sample
 * that is resolved late still finds the code of its own moment, even if the address was
 * reused.
 *
 * Any thread; it has its own lock, which the handler never needs.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_CODE_H
#define JSP_SESSION_CODE_H

#include <pthread.h>

#include "gdbjit.h"
#include "sigsafe/jitrows.h"

struct jsp_code_line {
    uint32_t offset; /* from the range's start; ascending */
    uint32_t line;
};

/* One range with its life time. Immutable except `death`, `doomed` and the chain. */
struct jsp_code {
    uint64_t start, end;
    uint64_t birth, death; /* death UINT64_MAX: still registered */
    uint64_t doomed;       /* time of the prune that first found it dead; 0: none */
    struct jsp_code *older, *newer; /* the neighbours in the chain */
    struct jsp_gdbjit *announced; /* owned; NULL: it is not */
    uint32_t label;        /* id in the session's arena */
    uint32_t n_lines, n_rows, n_pcs;
    jsprof_code_row *rows; /* after the lines; NULL: by frame pointer */
    jsprof_code_pc *pcs;   /* after the rows; NULL: none */
    struct jsp_code_line lines[];
};
_Static_assert(offsetof(struct jsp_code, lines) % 8 == 0, "pcs are aligned after lines");

struct jsp_codes {
    pthread_mutex_t lock;
    bool announces;        /* to debuggers, by gdbjit.h */
    _Atomic bool has_any;  /* a range was added; read without `lock` */
    struct jsp_jitrows handler; /* the living ranges for the handler */
    struct jsp_jitrows_slot *outgrown[32]; /* owned: arrays that handlers may still read */
    uint32_t n_outgrown;
    struct jsp_code **at;   /* owned: the living ranges, sorted by start */
    uint32_t n, capacity;
    struct jsp_code **dead; /* owned: the dead ones, sorted by death */
    uint32_t n_dead, dead_capacity;
    struct jsp_code *newest; /* owned: the chain of all ranges, living and dead */
    uint32_t crowded_at;    /* number of dead ones that needs a prune */

    /* Always: the living ranges do not overlap; n + n_dead <= dead_capacity. At every moment,
     * also with the lock held, the chain from `newest` by `older` is whole: see
     * jsp_codes_take_over. */
};

struct jsp_code_def {
    uint64_t start, length; /* length > 0 */
    uint32_t label;
    const char *name; /* the label's, to announce; NULL: none */
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

/* Lay out an empty table. */
void jsp_codes_init(struct jsp_codes *codes);

/* Free all code, and withdraw what gdb was given. No other thread may use the table. */
void jsp_codes_free(struct jsp_codes *codes);

/* Take over all ranges of the parent, in the child of a fork after init. `newest` is the
 * parent's. Another thread of the parent may have held its lock. Return 0 or -ENOMEM. */
int jsp_codes_take_over(struct jsp_codes *codes, struct jsp_code *newest);

/* Add a range; ranges that live in the same bytes die. Return 0, -EINVAL or -ENOMEM. */
int jsp_codes_add(struct jsp_codes *codes, const struct jsp_code_def *def, uint64_t now_ns);

/* Return -ENOENT if no living range starts there. */
int jsp_codes_remove(struct jsp_codes *codes, uint64_t start, uint64_t now_ns);

/* Move a range. `moved` gets start, length and label of the new one. Errors as add and
 * remove. */
int jsp_codes_move(struct jsp_codes *codes, uint64_t from, uint64_t to, uint64_t now_ns,
                   struct jsp_code_def *moved);

/* Find the code that was at `ip` at that time. Return false if there was none. */
bool jsp_codes_find(struct jsp_codes *codes, uint64_t ip, uint64_t time_ns,
                    struct jsp_code_hit *hit);

/* Free dead ranges. The caller will look up no sample from before this moment, and no
 * handler that began before it still runs. A range is freed at the second such prune
 * after its death. */
void jsp_codes_prune(struct jsp_codes *codes, uint64_t before_ns);

/* Return true if dead code waits for a prune. */
bool jsp_codes_any_dead(struct jsp_codes *codes);

/* Return true if a prune is due: enough ranges have died since the last one, or since
 * this returned true. */
bool jsp_codes_are_crowded(struct jsp_codes *codes);

#endif
