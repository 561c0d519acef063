/* page/listings.h - the bytecode of a page's functions, and the operation of each sample.
 *
 * A listing is text of the program, so a page has it only together with the sources. It has those
 * of the functions with the most samples, as many as fit. Two captures to compare may have
 * different bytecode: such a page has none. For src/page only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_LISTINGS_H
#define JSP_PAGE_LISTINGS_H

#include "analyze/bytecode.h"
#include "export/json.h"
#include "tree.h"

struct jsp_page_listing {
    uint32_t function;  /* of the page's tree */
    uint32_t own;       /* the same one in the profile */
    uint32_t generated; /* as in its frames */
    uint32_t samples;   /* at one of its operations */
    struct jsp_bytecode code; /* empty: it had no room */
};

struct jsp_page_listings {
    struct jsp_page_listing *list;
    uint32_t n, room;
    uint32_t *rows; /* by sample of the capture's times: the row + 1 of its innermost function of
                     * the VM, or 0; NULL: no sample has one */
};

/* Read the listings. Return 0 or -ENOMEM. Call jsp_page_listings_free in any case. */
int jsp_page_listings_build(struct jsp_page_listings *l, const struct jsp_html *h,
                            const struct jsp_page_tree *t);

/* Free the listings. */
void jsp_page_listings_free(struct jsp_page_listings *l);

/* Write "listings": [[function, pc, line, "text", pc, line, "text", ...], ...]; nothing if there
 * are none. */
void jsp_page_listings_put(const struct jsp_page_listings *l, struct jsp_json *j);

#endif
