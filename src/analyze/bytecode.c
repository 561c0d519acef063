/* analyze/bytecode.c - a function's listing: the file jsprof/listings.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bytecode.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/grow.h"
#include "capture/embedded.h"

/* The rest of a chunk, and the listing that is being read. */
struct bytecode_from {
    const uint8_t *at, *end;
    int32_t pid;
    uint32_t number; /* of the listing that is wanted, once it is known */
};

static int bytecode_row(struct jsp_bytecode *b, struct bytecode_from *from, bool is_ours)
{
    struct jsp_embedded_row r;
    uint64_t pc;
    if (!jsp_embedded_row_get(&from->at, from->end, &r))
        return -EBADMSG;
    if (!is_ours)
        return 0;
    struct jsp_bytecode_row row = { r.pc, r.text, r.line, b->n_targets, r.n_targets, r.ends };
    const uint8_t *at = r.packed;
    for (uint32_t i = 0; i < r.n_targets && jsp_read_varint(&at, from->end, &pc); i++) {
        if (jsp_grow(&b->targets, &b->targets_room, b->n_targets, sizeof *b->targets) < 0)
            return -ENOMEM;
        b->targets[b->n_targets++] = pc;
    }
    if (b->n && row.pc <= b->rows[b->n - 1].pc)
        return -EBADMSG;
    if (jsp_grow(&b->rows, &b->rows_room, b->n, sizeof *b->rows) < 0)
        return -ENOMEM;
    b->rows[b->n++] = row;
    return 0;
}

static int bytecode_record(struct jsp_bytecode *b, struct bytecode_from *from,
                           const char *wanted)
{
    struct jsp_embedded_listing head;
    if (!jsp_embedded_listing_get(&from->at, from->end, &head))
        return -EBADMSG;
    bool is_ours = b->is_there && b->pid == from->pid && head.number == from->number;
    int err = 0;
    switch (head.tag) {
    case JSP_WIRE_LISTING:
        if (b->is_there || head.name.len != strlen(wanted) ||
            memcmp(head.name.at, wanted, head.name.len) != 0)
            return 0;
        b->is_there = true;
        b->pid = from->pid;
        b->n_claimed = head.count;
        from->number = head.number;
        return 0;
    case JSP_WIRE_LISTING_ROWS:
        if (is_ours && (head.first != b->n || (uint64_t)head.first + head.count > b->n_claimed))
            return -EBADMSG;
        for (uint64_t i = 0; !err && i < head.count; i++)
            err = bytecode_row(b, from, is_ours);
        return err;
    default:
        b->is_shared |= is_ours;
        return 0;
    }
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
    while (err != -ENOMEM && jsp_read_file(&c, JSP_WIRE_FILE_LISTINGS, &f, &chunk)) {
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
    struct jsp_bisect_number than = { offsetof(struct jsp_bytecode_row, pc), pc };
    uint32_t low = (uint32_t)jsp_bisect_below(b->rows, b->n, sizeof *b->rows, than);
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

static bool pcs_record(struct jsp_bytecode_pcs *pcs)
{
    struct jsp_embedded_pcs record;
    if (!pcs->left && (!jsp_embedded_block_get(&pcs->at, pcs->end, &pcs->next, &pcs->left) ||
                       !pcs->left))
        return false;
    if (!jsp_embedded_pcs_get(&pcs->at, pcs->end, &record))
        return false;
    pcs->ordinal = pcs->next + record.skip;
    pcs->n = record.n;
    pcs->rows = record.rows;
    pcs->next = pcs->ordinal + 1;
    pcs->left--;
    return true;
}

/* Read the next readable record. Return false if there is none. */
static bool pcs_ready(struct jsp_bytecode_pcs *pcs)
{
    while (!pcs->is_ready) {
        if (pcs->at == pcs->end) {
            struct jsp_read_frame f;
            struct jsp_read_chunk chunk;
            struct jsp_read_cursor quiet = pcs->cursor;
            quiet.defects = NULL; /* loading the capture has counted the defects of frames */
            bool is_there = jsp_read_file(&quiet, JSP_WIRE_FILE_PCS, &f, &chunk);
            /* if none is, no later call searches the file again */
            pcs->cursor.offset = quiet.offset;
            pcs->left = 0;
            if (!is_there)
                return false;
            pcs->at = chunk.data;
            pcs->end = chunk.data + chunk.len;
            pcs->offset = f.offset;
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
