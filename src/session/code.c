/* session/code.c - see code.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "code.h"

#include "base/bisect.h"
#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_CROWD = 1024 }; /* prune after so many more deaths */

void jsp_codes_init(struct jsp_codes *codes)
{
    memset(codes, 0, sizeof *codes);
    codes->crowded_at = CODE_CROWD;
    pthread_mutex_init(&codes->lock, NULL);
}

void jsp_codes_free(struct jsp_codes *codes)
{
    for (struct jsp_code *code = codes->newest, *older; code; code = older) {
        older = code->older;
        jsp_gdbjit_remove(code->announced);
        free(code);
    }
    for (uint32_t i = 0; i < codes->n_outgrown; i++)
        free(codes->outgrown[i]);
    free(codes->at);
    free(codes->dead);
    pthread_mutex_destroy(&codes->lock);
}

static bool codes_starts_up_to(const void *item, const void *ip)
{
    return (*(const struct jsp_code *const *)item)->start <= *(const uint64_t *)ip;
}

static bool codes_died_up_to(const void *item, const void *time_ns)
{
    return (*(const struct jsp_code *const *)item)->death <= *(const uint64_t *)time_ns;
}

static bool codes_line_up_to(const void *item, const void *offset)
{
    return ((const struct jsp_code_line *)item)->offset <= *(const uint64_t *)offset;
}

static bool codes_pc_up_to(const void *item, const void *offset)
{
    return ((const jsprof_code_pc *)item)->offset <= *(const uint64_t *)offset;
}

/* Return how many living ranges start at or before `ip`. */
static uint32_t codes_until(const struct jsp_codes *codes, uint64_t ip)
{
    return (uint32_t)jsp_bisect(codes->at, codes->n, sizeof *codes->at, codes_starts_up_to, &ip);
}

/* Return how many dead ranges died at or before this time. */
static uint32_t codes_dead_until(const struct jsp_codes *codes, uint64_t time_ns)
{
    return (uint32_t)jsp_bisect(codes->dead, codes->n_dead, sizeof *codes->dead,
                                codes_died_up_to, &time_ns);
}

/* Move the living range at index `at` to the dead ones, where codes_grow made room.
 * Racing threads may bring their times a little out of order, so its place is at or near
 * the end. */
static void codes_die(struct jsp_codes *codes, uint32_t at, uint64_t now_ns)
{
    struct jsp_code *code = codes->at[at];
    jsp_jitrows_remove(&codes->handler, code->start);
    jsp_gdbjit_remove(code->announced);
    code->announced = NULL;
    codes->n--;
    memmove(codes->at + at, codes->at + at + 1, (codes->n - at) * sizeof *codes->at);
    code->death = now_ns;
    uint32_t to = codes_dead_until(codes, now_ns);
    memmove(codes->dead + to + 1, codes->dead + to,
            (codes->n_dead - to) * sizeof *codes->dead);
    codes->dead[to] = code;
    codes->n_dead++;
}

/* Make room for one more living range, and for all of them among the dead: dying must not
 * fail. */
static int codes_grow(struct jsp_codes *codes)
{
    int err = jsp_grow(&codes->at, &codes->capacity, codes->n, sizeof *codes->at);
    return err ? err : jsp_grow_by(&codes->dead, &codes->dead_capacity, codes->n_dead,
                                   codes->n + 1, sizeof *codes->dead);
}

/* Give the handler a larger array when it is full. The old one stays, because a handler
 * may be reading it. */
static int codes_grow_handler(struct jsp_codes *codes)
{
    struct jsp_jitrows *rows = &codes->handler;
    /* ORDER: relaxed, both. Only the holder of the lock changes them. */
    uint32_t n = atomic_load_explicit(&rows->n, memory_order_relaxed);
    /* ORDER: relaxed, as above. */
    const struct jsp_jitrows_slot *old = atomic_load_explicit(&rows->at, memory_order_relaxed);
    if (n < rows->capacity)
        return 0;
    uint32_t capacity = rows->capacity ? rows->capacity * 2 : 64;
    struct jsp_jitrows_slot *more = malloc(capacity * sizeof *more);
    if (!more || codes->n_outgrown == sizeof codes->outgrown / sizeof *codes->outgrown) {
        free(more);
        return -ENOMEM;
    }
    if (n)
        memcpy((void *)more, (const void *)old, n * sizeof *more);
    codes->outgrown[codes->n_outgrown++] = more; /* all of them are freed at the end */
    /* J1. ORDER: release: the contents before the address. The number of ranges is the
     * same in both arrays, so `seq` need not change. */
    atomic_store_explicit(&rows->at, more, memory_order_release);
    rows->capacity = capacity;
    return 0;
}

/* Let the handler find the range; codes_grow_handler made room. */
static void codes_show(struct jsp_codes *codes, const struct jsp_code *code)
{
    struct jsp_jitrows_range range = { code->start, code->end, code->rows, code->n_rows,
                                       code->label };
    jsp_jitrows_add(&codes->handler, &range);
}

static struct jsp_code *codes_new(const struct jsp_code_def *def, uint64_t now_ns)
{
    size_t lines = (def->lines ? def->n_lines : 0) * sizeof *def->lines;
    size_t rows = (def->rows ? def->n_rows : 0) * sizeof *def->rows;
    size_t pcs = (def->pcs ? def->n_pcs : 0) * sizeof *def->pcs;
    struct jsp_code *code = malloc(sizeof *code + lines + rows + pcs);
    if (!code)
        return NULL;
    *code = (struct jsp_code){ .start = def->start, .end = def->start + def->length,
                               .birth = now_ns, .death = UINT64_MAX, .label = def->label };
    if (lines) {
        code->n_lines = def->n_lines;
        memcpy(code->lines, def->lines, lines);
    }
    if (rows) {
        code->n_rows = def->n_rows;
        code->rows = (jsprof_code_row *)(void *)((char *)code->lines + lines);
        memcpy(code->rows, def->rows, rows);
    }
    if (pcs) {
        code->n_pcs = def->n_pcs;
        code->pcs = (jsprof_code_pc *)(void *)((char *)code->lines + lines + rows);
        memcpy(code->pcs, def->pcs, pcs);
    }
    return code;
}

/* Order two stores, on which the child of a fork relies. */
static void codes_step(void)
{
    /* ORDER: release, for the copy that a fork on another thread makes; no partner. */
    atomic_thread_fence(memory_order_release);
}

static void codes_link(struct jsp_codes *codes, struct jsp_code *code)
{
    code->older = codes->newest;
    if (code->older)
        code->older->newer = code;
    codes_step();
    codes->newest = code;
}

static void codes_unlink_and_free(struct jsp_codes *codes, struct jsp_code *code)
{
    if (code->newer)
        code->newer->older = code->older;
    else
        codes->newest = code->older;
    codes_step();
    if (code->older)
        code->older->newer = code->newer;
    free(code);
}

static int codes_add_locked(struct jsp_codes *codes, const struct jsp_code_def *def,
                            uint64_t now_ns)
{
    int err = codes_grow(codes);
    if (!err)
        err = codes_grow_handler(codes);
    struct jsp_code *code = err ? NULL : codes_new(def, now_ns);
    if (!code)
        return -ENOMEM;
    /* Those that overlap the new one die. Living ranges are disjoint, so these are
     * neighbours. */
    for (uint32_t i = codes_until(codes, code->end - 1);
         i-- > 0 && codes->at[i]->end > code->start;)
        codes_die(codes, i, now_ns);
    codes_link(codes, code);
    uint32_t at = codes_until(codes, code->start);
    memmove(codes->at + at + 1, codes->at + at, (codes->n - at) * sizeof *codes->at);
    codes->at[at] = code;
    codes->n++;
    /* ORDER: relaxed, see jsp_codes_find. */
    atomic_store_explicit(&codes->has_any, true, memory_order_relaxed);
    codes_show(codes, code);
    if (codes->announces && def->name)
        code->announced = jsp_gdbjit_add(code->start, code->end, def->name, code->rows,
                                         code->n_rows);
    return 0;
}

int jsp_codes_add(struct jsp_codes *codes, const struct jsp_code_def *def, uint64_t now_ns)
{
    if (!def->length || def->start + def->length < def->start)
        return -EINVAL;
    pthread_mutex_lock(&codes->lock);
    int err = codes_add_locked(codes, def, now_ns);
    pthread_mutex_unlock(&codes->lock);
    return err;
}

/* Return the index of the living range that starts at `start`, or codes->n if there is
 * none. */
static uint32_t codes_alive_at(const struct jsp_codes *codes, uint64_t start)
{
    uint32_t until = codes_until(codes, start);
    return until && codes->at[until - 1]->start == start ? until - 1 : codes->n;
}

int jsp_codes_remove(struct jsp_codes *codes, uint64_t start, uint64_t now_ns)
{
    pthread_mutex_lock(&codes->lock);
    uint32_t at = codes_alive_at(codes, start);
    bool is_there = at < codes->n;
    if (is_there)
        codes_die(codes, at, now_ns);
    pthread_mutex_unlock(&codes->lock);
    return is_there ? 0 : -ENOENT;
}

/* Move a range. The new range is added first, which kills the old one if they overlap. */
static int codes_move_locked(struct jsp_codes *codes, struct jsp_code *code,
                             const struct jsp_code_def *to, uint64_t now_ns)
{
    struct jsp_code_def def = *to;
    def.lines = code->lines;
    def.n_lines = code->n_lines;
    def.rows = code->rows;
    def.n_rows = code->n_rows;
    def.pcs = code->pcs;
    def.n_pcs = code->n_pcs;
    def.name = code->announced ? jsp_gdbjit_name(code->announced) : NULL;
    int err = codes_add_locked(codes, &def, now_ns);
    if (!err && code->death == UINT64_MAX)
        codes_die(codes, codes_alive_at(codes, code->start), now_ns);
    return err;
}

int jsp_codes_move(struct jsp_codes *codes, uint64_t from, uint64_t to, uint64_t now_ns,
                   struct jsp_code_def *moved)
{
    int err = -ENOENT;
    pthread_mutex_lock(&codes->lock);
    uint32_t at = codes_alive_at(codes, from);
    if (at < codes->n) {
        struct jsp_code *code = codes->at[at];
        *moved = (struct jsp_code_def){ .start = to, .length = code->end - code->start,
                                        .label = code->label };
        bool wraps = to + moved->length < to;
        err = wraps ? -EINVAL : codes_move_locked(codes, code, moved, now_ns);
    }
    pthread_mutex_unlock(&codes->lock);
    return err;
}

/* Return the last line that begins at or before the offset, or 0. */
static uint32_t codes_line(const struct jsp_code *code, uint64_t offset)
{
    size_t until = jsp_bisect(code->lines, code->n_lines, sizeof *code->lines,
                              codes_line_up_to, &offset);
    return until ? code->lines[until - 1].line : 0;
}

/* Return the last pc that begins at or before the offset, or 0. */
static uint64_t codes_pc(const struct jsp_code *code, uint64_t offset)
{
    size_t until = jsp_bisect(code->pcs, code->n_pcs, sizeof *code->pcs, codes_pc_up_to,
                              &offset);
    return until ? code->pcs[until - 1].pc : 0;
}

static bool codes_held(const struct jsp_code *code, uint64_t ip, uint64_t time_ns)
{
    return ip >= code->start && ip < code->end && time_ns >= code->birth &&
           time_ns < code->death;
}

/* Find the range that held `ip` at this time. Only the living and those which died later
 * are searched. */
static const struct jsp_code *codes_at_time(const struct jsp_codes *codes, uint64_t ip,
                                            uint64_t time_ns)
{
    uint32_t until = codes_until(codes, ip);
    if (until && codes_held(codes->at[until - 1], ip, time_ns))
        return codes->at[until - 1];
    for (uint32_t i = codes_dead_until(codes, time_ns); i < codes->n_dead; i++)
        if (codes_held(codes->dead[i], ip, time_ns))
            return codes->dead[i];
    return NULL;
}

bool jsp_codes_find(struct jsp_codes *codes, uint64_t ip, uint64_t time_ns,
                    struct jsp_code_hit *hit)
{
    /* ORDER: relaxed. A sample that met a range was popped after the range was added. */
    if (!atomic_load_explicit(&codes->has_any, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&codes->lock);
    const struct jsp_code *code = codes_at_time(codes, ip, time_ns);
    if (code)
        *hit = (struct jsp_code_hit){ code->label, codes_line(code, ip - code->start),
                                      codes_pc(code, ip - code->start) };
    pthread_mutex_unlock(&codes->lock);
    return code != NULL;
}

/* Has every handler that may have found the range returned? A handler may find it between
 * its death and its removal, so this takes two prunes: one after the removal, and a later
 * one. */
static bool codes_is_over(struct jsp_code *code, uint64_t before_ns)
{
    if (!code->doomed)
        code->doomed = before_ns;
    return code->doomed < before_ns;
}

static int codes_by_start(const void *left, const void *right)
{
    const struct jsp_code *const *l = left, *const *r = right;
    return ((*l)->start > (*r)->start) - ((*l)->start < (*r)->start);
}

static int codes_by_death(const void *left, const void *right)
{
    const struct jsp_code *const *l = left, *const *r = right;
    return ((*l)->death > (*r)->death) - ((*l)->death < (*r)->death);
}

int jsp_codes_take_over(struct jsp_codes *codes, struct jsp_code *newest)
{
    uint32_t n = 0;
    codes->newest = newest;
    for (struct jsp_code *code = newest, *newer = NULL; code; newer = code, code = code->older) {
        code->newer = newer;
        n++;
    }
    if (!n)
        return 0;
    /* ORDER: relaxed, see jsp_codes_find. */
    atomic_store_explicit(&codes->has_any, true, memory_order_relaxed);
    if (jsp_grow_by(&codes->at, &codes->capacity, 0, n, sizeof *codes->at) < 0 ||
        jsp_grow_by(&codes->dead, &codes->dead_capacity, 0, n, sizeof *codes->dead) < 0)
        return -ENOMEM;
    for (struct jsp_code *code = newest; code; code = code->older) {
        if (code->death == UINT64_MAX)
            codes->at[codes->n++] = code;
        else
            codes->dead[codes->n_dead++] = code;
    }
    qsort(codes->at, codes->n, sizeof *codes->at, codes_by_start);
    qsort(codes->dead, codes->n_dead, sizeof *codes->dead, codes_by_death);
    for (uint32_t i = 0; i < codes->n; i++) {
        int err = codes_grow_handler(codes);
        if (err)
            return err;
        codes_show(codes, codes->at[i]);
    }
    codes->crowded_at = codes->n_dead + CODE_CROWD;
    return 0;
}

void jsp_codes_prune(struct jsp_codes *codes, uint64_t before_ns)
{
    uint32_t kept = 0, i = 0;
    pthread_mutex_lock(&codes->lock);
    for (; i < codes->n_dead && codes->dead[i]->death < before_ns; i++) {
        if (codes_is_over(codes->dead[i], before_ns))
            codes_unlink_and_free(codes, codes->dead[i]);
        else
            codes->dead[kept++] = codes->dead[i];
    }
    if (kept < i)
        memmove(codes->dead + kept, codes->dead + i,
                (codes->n_dead - i) * sizeof *codes->dead);
    codes->n_dead -= i - kept;
    codes->crowded_at = codes->n_dead + CODE_CROWD;
    pthread_mutex_unlock(&codes->lock);
}

bool jsp_codes_any_dead(struct jsp_codes *codes)
{
    pthread_mutex_lock(&codes->lock);
    bool any = codes->n_dead > 0;
    pthread_mutex_unlock(&codes->lock);
    return any;
}

bool jsp_codes_are_crowded(struct jsp_codes *codes)
{
    pthread_mutex_lock(&codes->lock);
    bool are = codes->n_dead >= codes->crowded_at;
    if (are) /* return true only once until the next prune or as many more deaths */
        codes->crowded_at = codes->n_dead + CODE_CROWD;
    pthread_mutex_unlock(&codes->lock);
    return are;
}
