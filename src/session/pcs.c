/* session/pcs.c - the rows of listings on which each sample was taken. See listing.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "capture/embedded.h"
#include "listing.h"

void jsp_pcs_drop(struct jsp_pcs *pcs)
{
    pcs->count = 0;
    pcs->used = 0;
}

void jsp_pcs_write(struct jsp_pcs *pcs, struct jsp_writer *w)
{
    struct jsp_writer_block block = { JSP_WIRE_FILE_PCS, pcs->first, pcs->count, pcs->block,
                                      pcs->used };
    if (pcs->count && jsp_writer_block(w, &block) == 0)
        jsp_pcs_drop(pcs);
}

static bool pcs_fits(const struct jsp_pcs *pcs, uint32_t n)
{
    return pcs->used + (2 + n) * JSP_VARINT_MAX <= sizeof pcs->block;
}

bool jsp_pcs_has_room(struct jsp_pcs *pcs, struct jsp_writer *w, uint32_t n)
{
    if (!pcs_fits(pcs, n))
        jsp_pcs_write(pcs, w);
    return pcs_fits(pcs, n);
}

void jsp_pcs_put(struct jsp_pcs *pcs, struct jsp_listings *all,
                 const struct jsp_frames *frames, uint64_t ordinal)
{
    uint32_t rows[JSP_FRAMES_KEPT], n = 0;
    if (!all->n)
        return;
    for (uint32_t i = 0; i < frames->n; i++) {
        const struct jsp_merged *frame = &frames->at[i];
        rows[i] = frame->native ? 0 : jsp_listings_row(all, frame->id, frame->pc);
        n = rows[i] ? i + 1 : n;
    }
    if (!n)
        return;
    if (!pcs->count++)
        pcs->first = pcs->next = ordinal;
    uint8_t *to = pcs->block + pcs->used;
    pcs->used += (uint32_t)jsp_embedded_pcs_put(to, ordinal - pcs->next, rows, n);
    pcs->next = ordinal + 1;
}
