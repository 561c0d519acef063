/* base/store.h - keeps copies of texts.
 *
 * Copies of short texts are kept in blocks of 64 KiB, and all of them are freed together.
 * One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BASE_STORE_H
#define JSP_BASE_STORE_H

#include <stddef.h>

/* Texts that live until the store is freed. */
struct jsp_store {
    struct jsp_store_block *blocks;
    size_t left;
    char *next;
};

/* Return a copy of `len` bytes with a NUL, which lives as long as the store. NULL: no memory. */
char *jsp_store_text(struct jsp_store *s, const char *text,
                     size_t len);

/* Free all texts and zero the store. */
void jsp_store_free(struct jsp_store *s);

#endif
