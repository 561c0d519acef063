/* session/code.c - see code.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_DEAD_KEPT = 64 }; /* too few to be worth a compaction */

void jsp_codes_init(struct jsp_codes *codes)
{
    memset(codes, 0, sizeof *codes);
    pthread_mutex_init(&codes->lock, NULL);
}

void jsp_codes_free(struct jsp_codes *codes)
{
    for (uint32_t i = 0; i < codes->n; i++)
        free(codes->at[i]);
    for (uint32_t i = 0; i < codes->n_outgrown; i++)
        free(codes->outgrown[i]);
    free(codes->at);
    pthread_mutex_destroy(&codes->lock);
}

/* How many ranges start at or before `ip`. */
static uint32_t codes_until(const struct jsp_codes *codes, uint64_t ip)
{
    uint32_t low = 0, high = codes->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (codes->at[mid]->start <= ip)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void codes_die(struct jsp_codes *codes, struct jsp_code *code, uint64_t now_ns)
{
    jsp_jitrows_remove(&codes->handler, code->start);
    code->death = now_ns;
    codes->n_dead++;
}

/* Living ranges are disjoint, so the nearest one that starts before the end is the
 * last that can overlap [start, end). */
static void codes_kill_overlap(struct jsp_codes *codes, uint64_t start, uint64_t end,
                               uint64_t now_ns)
{
    for (uint32_t i = codes_until(codes, end - 1); i-- > 0;) {
        struct jsp_code *code = codes->at[i];
        if (code->death != UINT64_MAX)
            continue;
        if (code->end <= start)
            return;
        codes_die(codes, code, now_ns);
    }
}

static int codes_grow(struct jsp_codes *codes)
{
    if (codes->n < codes->capacity)
        return 0;
    uint32_t capacity = codes->capacity ? codes->capacity * 2 : 64;
    struct jsp_code **more = realloc(codes->at, capacity * sizeof *more);
    if (!more)
        return -ENOMEM;
    codes->at = more;
    codes->capacity = capacity;
    return 0;
}

/* A larger array for the handler; the one before stays, somebody may be reading it. */
static int codes_grow_handler(struct jsp_codes *codes)
{
    struct jsp_jitrows *rows = &codes->handler;
    /* ORDER: relaxed, both. Only who holds the lock changes them. */
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
    /* J1. ORDER: release: the contents before the address. The number of ranges is
     * the same in both arrays, so `seq` need not change. */
    atomic_store_explicit(&rows->at, more, memory_order_release);
    rows->capacity = capacity;
    return 0;
}

static struct jsp_code *codes_new(const struct jsp_code_def *def, uint64_t now_ns)
{
    size_t lines = (def->lines ? def->n_lines : 0) * sizeof *def->lines;
    size_t rows = (def->rows ? def->n_rows : 0) * sizeof *def->rows;
    struct jsp_code *code = malloc(sizeof *code + lines + rows);
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
    return code;
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
    codes_kill_overlap(codes, code->start, code->end, now_ns);
    uint32_t at = codes_until(codes, code->start);
    memmove(codes->at + at + 1, codes->at + at, (codes->n - at) * sizeof *codes->at);
    codes->at[at] = code;
    codes->n++;
    struct jsp_jitrows_range range = { code->start, code->end, code->rows, code->n_rows,
                                       code->label };
    jsp_jitrows_add(&codes->handler, &range);
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

static struct jsp_code *codes_alive_at(const struct jsp_codes *codes, uint64_t start)
{
    for (uint32_t i = codes_until(codes, start); i-- > 0;) {
        if (codes->at[i]->start != start)
            return NULL;
        if (codes->at[i]->death == UINT64_MAX)
            return codes->at[i];
    }
    return NULL;
}

int jsp_codes_remove(struct jsp_codes *codes, uint64_t start, uint64_t now_ns)
{
    pthread_mutex_lock(&codes->lock);
    struct jsp_code *code = codes_alive_at(codes, start);
    if (code)
        codes_die(codes, code, now_ns);
    pthread_mutex_unlock(&codes->lock);
    return code ? 0 : -ENOENT;
}

/* The new range is added first, which kills the old one where they overlap. */
static int codes_move_locked(struct jsp_codes *codes, struct jsp_code *code,
                             const struct jsp_code_def *to, uint64_t now_ns)
{
    struct jsp_code_def def = *to;
    def.lines = code->lines;
    def.n_lines = code->n_lines;
    def.rows = code->rows;
    def.n_rows = code->n_rows;
    int err = codes_add_locked(codes, &def, now_ns);
    if (!err && code->death == UINT64_MAX)
        codes_die(codes, code, now_ns);
    return err;
}

int jsp_codes_move(struct jsp_codes *codes, uint64_t from, uint64_t to, uint64_t now_ns,
                   struct jsp_code_def *moved)
{
    int err = -ENOENT;
    pthread_mutex_lock(&codes->lock);
    struct jsp_code *code = codes_alive_at(codes, from);
    if (code) {
        *moved = (struct jsp_code_def){ .start = to, .length = code->end - code->start,
                                        .label = code->label };
        bool wraps = to + moved->length < to;
        err = wraps ? -EINVAL : codes_move_locked(codes, code, moved, now_ns);
    }
    pthread_mutex_unlock(&codes->lock);
    return err;
}

/* The last line that begins at or before the offset. */
static uint32_t codes_line(const struct jsp_code *code, uint64_t offset)
{
    uint32_t low = 0, high = code->n_lines;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (code->lines[mid].offset <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? code->lines[low - 1].line : 0;
}

bool jsp_codes_find(struct jsp_codes *codes, uint64_t ip, uint64_t time_ns,
                    struct jsp_code_hit *hit)
{
    bool found = false;
    pthread_mutex_lock(&codes->lock);
    for (uint32_t i = codes_until(codes, ip); i-- > 0;) {
        const struct jsp_code *code = codes->at[i];
        if (time_ns < code->birth || time_ns >= code->death)
            continue; /* of another time */
        found = ip < code->end;
        if (found)
            *hit = (struct jsp_code_hit){ code->label, codes_line(code, ip - code->start) };
        break;
    }
    pthread_mutex_unlock(&codes->lock);
    return found;
}

/* A handler may have found the range between its death and its removal, so it takes
 * two looks: one after the removal, and a moment later than that one's. */
static bool codes_is_over(struct jsp_code *code, uint64_t before_ns)
{
    if (code->death >= before_ns)
        return false;
    if (!code->doomed)
        code->doomed = before_ns;
    return code->doomed < before_ns;
}

void jsp_codes_prune(struct jsp_codes *codes, uint64_t before_ns)
{
    uint32_t kept = 0;
    pthread_mutex_lock(&codes->lock);
    if (codes->n_dead > CODE_DEAD_KEPT) {
        for (uint32_t i = 0; i < codes->n; i++) {
            if (codes_is_over(codes->at[i], before_ns))
                free(codes->at[i]);
            else
                codes->at[kept++] = codes->at[i];
        }
        codes->n_dead -= codes->n - kept;
        codes->n = kept;
    }
    pthread_mutex_unlock(&codes->lock);
}
