/* bytecode.c - a function's listing: the file jsprof/listings.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/bytecode.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "capture/wire.h"

/* The rest of a chunk, and the listing that is being read. */
struct bytecode_from {
    const uint8_t *at, *end;
    int32_t pid;
    uint64_t number; /* number of the wanted listing, once it is known */
};

static bool bytecode_number(struct bytecode_from *from, uint64_t most, uint64_t *out)
{
    return jsp_read_varint(&from->at, from->end, out) && *out <= most;
}

static bool bytecode_text(struct bytecode_from *from, struct jsp_read_text *out)
{
    uint64_t len;
    if (!bytecode_number(from, (uint64_t)(from->end - from->at), &len) ||
        len > (uint64_t)(from->end - from->at))
        return false;
    *out = (struct jsp_read_text){ (const char *)from->at, (uint32_t)len };
    from->at += len;
    return true;
}

static int bytecode_target(struct jsp_bytecode *b, uint64_t pc)
{
    uint64_t *more = jsp_grow(b->targets, &b->targets_room, b->n_targets, sizeof *more);
    if (!more)
        return -ENOMEM;
    b->targets = more;
    more[b->n_targets++] = pc;
    return 0;
}

static int bytecode_keep(struct jsp_bytecode *b, const struct jsp_bytecode_row *row)
{
    if (b->n && row->pc <= b->rows[b->n - 1].pc)
        return -EBADMSG;
    struct jsp_bytecode_row *more = jsp_grow(b->rows, &b->rows_room, b->n, sizeof *more);
    if (!more)
        return -ENOMEM;
    b->rows = more;
    more[b->n++] = *row;
    return 0;
}

static int bytecode_row(struct jsp_bytecode *b, struct bytecode_from *from, bool is_ours)
{
    struct jsp_bytecode_row row = { .first_target = b->n_targets };
    uint64_t line, ends, n, pc;
    if (!bytecode_number(from, UINT64_MAX, &row.pc) ||
        !bytecode_number(from, UINT32_MAX, &line) || !bytecode_number(from, 1, &ends) ||
        !bytecode_number(from, (uint64_t)(from->end - from->at), &n))
        return -EBADMSG;
    for (uint64_t i = 0; i < n; i++) {
        if (!bytecode_number(from, UINT64_MAX, &pc))
            return -EBADMSG;
        int err = is_ours ? bytecode_target(b, pc) : 0;
        if (err)
            return err;
    }
    if (!bytecode_text(from, &row.text))
        return -EBADMSG;
    row.line = (uint32_t)line;
    row.ends = ends;
    row.n_targets = (uint32_t)n;
    return is_ours ? bytecode_keep(b, &row) : 0;
}

static bool bytecode_is_ours(const struct jsp_bytecode *b, const struct bytecode_from *from,
                             uint64_t number)
{
    return b->is_there && b->pid == from->pid && number == from->number;
}

static int bytecode_rows(struct jsp_bytecode *b, struct bytecode_from *from)
{
    uint64_t number, first, n;
    int err = 0;
    if (!bytecode_number(from, UINT32_MAX, &number) ||
        !bytecode_number(from, UINT32_MAX, &first) || !bytecode_number(from, UINT32_MAX, &n))
        return -EBADMSG;
    bool is_ours = bytecode_is_ours(b, from, number);
    if (is_ours && (first != b->n || first + n > b->n_claimed))
        return -EBADMSG;
    for (uint64_t i = 0; !err && i < n; i++)
        err = bytecode_row(b, from, is_ours);
    return err;
}

static int bytecode_begin(struct jsp_bytecode *b, struct bytecode_from *from,
                          const char *wanted)
{
    struct jsp_read_text name;
    uint64_t number, n;
    if (!bytecode_number(from, UINT32_MAX, &number) ||
        !bytecode_number(from, UINT32_MAX, &n) || !bytecode_text(from, &name))
        return -EBADMSG;
    if (b->is_there || name.len != strlen(wanted) || memcmp(name.at, wanted, name.len) != 0)
        return 0;
    b->is_there = true;
    b->pid = from->pid;
    b->n_claimed = (uint32_t)n;
    from->number = number;
    return 0;
}

static int bytecode_record(struct jsp_bytecode *b, struct bytecode_from *from,
                           const char *wanted)
{
    uint64_t number;
    switch (*from->at++) {
    case JSP_WIRE_LISTING:
        return bytecode_begin(b, from, wanted);
    case JSP_WIRE_LISTING_ROWS:
        return bytecode_rows(b, from);
    case JSP_WIRE_LISTING_OTHER:
        if (!bytecode_number(from, UINT32_MAX, &number))
            return -EBADMSG;
        b->is_shared = b->is_shared || bytecode_is_ours(b, from, number);
        return 0;
    default:
        return -EBADMSG;
    }
}

static bool bytecode_is_file(const struct jsp_read_chunk *chunk, const char *path)
{
    return chunk->path.len == strlen(path) && memcmp(chunk->path.at, path, chunk->path.len) == 0;
}

int jsp_bytecode_read(struct jsp_bytecode *out, const struct jsp_read *capture,
                      const char *name, struct jsp_read_defects *defects)
{
    struct bytecode_from from = { 0 };
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_read_chunk chunk;
    int err = 0;
    memset(out, 0, sizeof *out);
    jsp_read_start(&c, capture, NULL);
    while (err != -ENOMEM && jsp_read_next(&c, &f)) {
        if (f.type != JSP_WIRE_FILE_CHUNK || !jsp_read_chunk(&c, &f, &chunk) ||
            !bytecode_is_file(&chunk, JSP_WIRE_FILE_LISTINGS))
            continue;
        from.at = chunk.data;
        from.end = chunk.data + chunk.len;
        from.pid = f.pid;
        for (err = 0; !err && from.at < from.end;)
            err = bytecode_record(out, &from, name);
        if (err == -EBADMSG && defects)
            jsp_read_count(defects, JSP_READ_RECORD, f.offset);
    }
    if (err == -ENOMEM)
        jsp_bytecode_free(out);
    return err == -ENOMEM ? err : 0;
}

void jsp_bytecode_free(struct jsp_bytecode *b)
{
    free(b->rows);
    free(b->targets);
    memset(b, 0, sizeof *b);
}

uint32_t jsp_bytecode_at(const struct jsp_bytecode *b, uint64_t pc)
{
    uint32_t low = 0, high = b->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (b->rows[mid].pc < pc)
            low = mid + 1;
        else
            high = mid;
    }
    return low < b->n && b->rows[low].pc == pc ? low : b->n;
}

/* -- Samples ---------------------------------------------------------------- */

void jsp_bytecode_pcs_start(struct jsp_bytecode_pcs *pcs, const struct jsp_read *capture,
                            struct jsp_read_defects *defects)
{
    memset(pcs, 0, sizeof *pcs);
    jsp_read_start(&pcs->cursor, capture, NULL);
    pcs->cursor.defects = defects;
}

/* Go to the next chunk of jsprof/pcs. Return false if there is none. */
static bool pcs_chunk(struct jsp_bytecode_pcs *pcs)
{
    struct jsp_read_frame f;
    struct jsp_read_chunk chunk;
    struct jsp_read_cursor quiet = pcs->cursor;
    quiet.defects = NULL; /* loading the capture has counted the defects of frames */
    while (jsp_read_next(&quiet, &f))
        if (f.type == JSP_WIRE_FILE_CHUNK && jsp_read_chunk(&quiet, &f, &chunk) &&
            bytecode_is_file(&chunk, JSP_WIRE_FILE_PCS)) {
            pcs->at = chunk.data;
            pcs->end = chunk.data + chunk.len;
            pcs->offset = f.offset;
            pcs->cursor.offset = quiet.offset;
            return true;
        }
    /* at the end, so that no later call searches the file again */
    pcs->cursor.offset = quiet.offset;
    return false;
}

static bool pcs_record(struct jsp_bytecode_pcs *pcs)
{
    uint64_t skip, n, row;
    if (!pcs->left) {
        if (*pcs->at++ != JSP_WIRE_BLOCK ||
            !jsp_read_varint(&pcs->at, pcs->end, &pcs->next) ||
            !jsp_read_varint(&pcs->at, pcs->end, &pcs->left) || !pcs->left)
            return false;
    }
    if (!jsp_read_varint(&pcs->at, pcs->end, &skip) ||
        !jsp_read_varint(&pcs->at, pcs->end, &n) || n > JSP_WIRE_MAX_ADDRS)
        return false;
    pcs->ordinal = pcs->next + skip;
    pcs->n = (uint32_t)n;
    pcs->rows = pcs->at;
    for (uint64_t i = 0; i < n; i++)
        if (!jsp_read_varint(&pcs->at, pcs->end, &row))
            return false;
    pcs->next = pcs->ordinal + 1;
    pcs->left--;
    return true;
}

/* Read the next readable record. Return false if there is none. */
static bool pcs_ready(struct jsp_bytecode_pcs *pcs)
{
    while (!pcs->is_ready) {
        if (pcs->at == pcs->end) {
            pcs->left = 0;
            if (!pcs_chunk(pcs))
                return false;
            continue;
        }
        pcs->is_ready = pcs_record(pcs);
        if (pcs->is_ready)
            continue;
        pcs->at = pcs->end;
        if (pcs->cursor.defects)
            jsp_read_count(pcs->cursor.defects, JSP_READ_RECORD, pcs->offset);
    }
    return true;
}

uint32_t jsp_bytecode_pcs_get(struct jsp_bytecode_pcs *pcs, uint64_t ordinal, uint32_t *out,
                              uint32_t most)
{
    while (pcs_ready(pcs) && pcs->ordinal < ordinal)
        pcs->is_ready = false;
    if (!pcs->is_ready || pcs->ordinal != ordinal)
        return 0;
    uint32_t n = pcs->n < most ? pcs->n : most;
    const uint8_t *at = pcs->rows;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t row = 0;
        /* cannot fail: pcs_record has read it before */
        jsp_read_varint(&at, pcs->end, &row);
        out[i] = row <= UINT32_MAX ? (uint32_t)row : 0;
    }
    return n;
}
