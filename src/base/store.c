/* base/store.c - see store.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "store.h"

#include <stdlib.h>
#include <string.h>

enum { STORE_BLOCK = 1 << 16 };

struct jsp_store_block {
    struct jsp_store_block *older;
    char text[];
};

char *jsp_store_text(struct jsp_store *s, const char *text, size_t len)
{
    if (len + 1 > s->left) {
        size_t room = len + 1 > STORE_BLOCK ? len + 1 : STORE_BLOCK;
        struct jsp_store_block *b = malloc(sizeof *b + room);
        if (!b)
            return NULL;
        b->older = s->blocks;
        s->blocks = b;
        s->next = b->text;
        s->left = room;
    }
    char *out = s->next;
    memcpy(out, text, len);
    out[len] = 0;
    s->next += len + 1;
    s->left -= len + 1;
    return out;
}

void jsp_store_free(struct jsp_store *s)
{
    while (s->blocks) {
        struct jsp_store_block *older = s->blocks->older;
        free(s->blocks);
        s->blocks = older;
    }
    memset(s, 0, sizeof *s);
}
