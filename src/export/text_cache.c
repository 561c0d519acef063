/* export/text_cache.c - a cache of texts that occur repeatedly.
 *
 * SPDX-License-Identifier: MIT
 */
#include "text_cache.h"

#include <errno.h>
#include <stdlib.h>

int jsp_text_cache_init(struct jsp_text_cache *p, uint32_t n)
{
    p->texts = (struct jsp_bytes){ 0 };
    jsp_sink_init(&p->into, jsp_bytes_write, &p->texts);
    p->list = calloc((size_t)n + 1, sizeof *p->list);
    return p->list ? 0 : -ENOMEM;
}

void jsp_text_cache_free(struct jsp_text_cache *p)
{
    jsp_bytes_free(&p->texts);
    free(p->list);
    p->list = NULL;
}

bool jsp_text_cache_wants(struct jsp_text_cache *p, uint32_t piece)
{
    if (p->list[piece].len)
        return false;
    p->list[piece].at = (size_t)p->into.total;
    return true;
}

void jsp_text_cache_put(struct jsp_text_cache *p, uint32_t piece, struct jsp_sink *out)
{
    struct jsp_text_cache_text *one = &p->list[piece];
    if (one->len == 0) {
        one->len = (size_t)p->into.total - one->at;
        if (jsp_sink_flush(&p->into) < 0)
            one->len = 0;
    }
    if (one->len)
        jsp_sink_put(out, p->texts.at + one->at, one->len);
}
