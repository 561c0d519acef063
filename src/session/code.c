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
        code->death = now_ns;
        codes->n_dead++;
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

static struct jsp_code *codes_new(const struct jsp_code_def *def, uint64_t now_ns)
{
    size_t lines = def->lines ? def->n_lines : 0;
    struct jsp_code *code = malloc(sizeof *code + lines * sizeof *code->lines);
    if (!code)
        return NULL;
    *code = (struct jsp_code){ def->start, def->start + def->length, now_ns, UINT64_MAX,
                               def->label, (uint32_t)lines };
    if (lines)
        memcpy(code->lines, def->lines, lines * sizeof *code->lines);
    return code;
}

static int codes_add_locked(struct jsp_codes *codes, const struct jsp_code_def *def,
                            uint64_t now_ns)
{
    int err = codes_grow(codes);
    struct jsp_code *code = err ? NULL : codes_new(def, now_ns);
    if (!code)
        return -ENOMEM;
    codes_kill_overlap(codes, code->start, code->end, now_ns);
    uint32_t at = codes_until(codes, code->start);
    memmove(codes->at + at + 1, codes->at + at, (codes->n - at) * sizeof *codes->at);
    codes->at[at] = code;
    codes->n++;
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
    if (code) {
        code->death = now_ns;
        codes->n_dead++;
    }
    pthread_mutex_unlock(&codes->lock);
    return code ? 0 : -ENOENT;
}

int jsp_codes_move(struct jsp_codes *codes, uint64_t from, uint64_t to, uint64_t now_ns)
{
    int err = -ENOENT;
    pthread_mutex_lock(&codes->lock);
    struct jsp_code *code = codes_alive_at(codes, from);
    if (code) {
        struct jsp_code_def def = { to, code->end - code->start, code->label, code->lines,
                                    code->n_lines };
        code->death = now_ns;
        codes->n_dead++;
        err = codes_add_locked(codes, &def, now_ns);
        if (err) { /* as if it had not been asked */
            code->death = UINT64_MAX;
            codes->n_dead--;
        }
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

void jsp_codes_prune(struct jsp_codes *codes, uint64_t before_ns)
{
    uint32_t kept = 0;
    pthread_mutex_lock(&codes->lock);
    if (codes->n_dead > CODE_DEAD_KEPT) {
        for (uint32_t i = 0; i < codes->n; i++) {
            if (codes->at[i]->death >= before_ns)
                codes->at[kept++] = codes->at[i];
            else
                free(codes->at[i]);
        }
        codes->n_dead -= codes->n - kept;
        codes->n = kept;
    }
    pthread_mutex_unlock(&codes->lock);
}
