/* export/strings.c - a table of strings, each stored once and referred to by its number.
 *
 * SPDX-License-Identifier: MIT
 */
#include "strings.h"

#include <errno.h>
#include <stdlib.h>

int jsp_strings_init(struct jsp_strings *s)
{
    memset(s, 0, sizeof *s);
    int err = jsp_hash_init(&s->by_text, 0);
    if (err == 0)
        jsp_strings_text(s, "");
    return err < 0 ? err : s->error;
}

void jsp_strings_free(struct jsp_strings *s)
{
    jsp_hash_free(&s->by_text);
    jsp_store_free(&s->store);
    free(s->list);
    memset(s, 0, sizeof *s);
}

static uint32_t strings_hash(const struct jsp_strings *s, struct jsp_read_text text)
{
    return (uint32_t)(jsp_hash_bytes(s->by_text.seed, text.at, text.len) >> 16);
}

uint32_t jsp_strings_find(const struct jsp_strings *s, struct jsp_read_text text)
{
    if (text.len == 0)
        return 0; /* the pointer may be NULL, too */
    uint32_t hash = strings_hash(s, text), probe = hash, at;
    while ((at = jsp_hash_next(&s->by_text, hash, &probe)) != 0)
        if (jsp_read_equal(s->list[at - 1], text))
            return at - 1;
    return 0;
}

uint32_t jsp_strings_add(struct jsp_strings *s, struct jsp_read_text text)
{
    uint32_t at = s->error ? 0 : jsp_strings_find(s, text);
    if (at || s->error || (text.len == 0 && s->n))
        return at;
    const char *kept = jsp_store_text(&s->store, text.at, text.len);
    if (!kept || jsp_grow(&s->list, &s->room, s->n, sizeof *s->list) < 0 ||
        jsp_hash_add(&s->by_text, strings_hash(s, text), s->n) < 0) {
        s->error = -ENOMEM;
        return 0;
    }
    s->list[s->n] = (struct jsp_read_text){ kept, text.len };
    return s->n++;
}

uint32_t jsp_strings_text(struct jsp_strings *s, const char *text)
{
    return jsp_strings_add(s, (struct jsp_read_text){ text, (uint32_t)strlen(text) });
}
