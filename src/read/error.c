/* read/error.c - errors, and structs and arrays that cross the border of the library.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t jsprof_read_version(void)
{
    return JSPROF_VERSION;
}

int jsp_reader_fail(jsprof_read_error *e, struct jsp_reader_fault fault, const char *format, ...)
{
    jsprof_read_error made = { .code = fault.code, .path = fault.path, .option = fault.option,
                               .has_offset = fault.has_offset, .offset = fault.offset };
    if (!e)
        return fault.code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(made.message, sizeof made.message, format, arguments);
    va_end(arguments);
    jsp_reader_give(e, 0, &made, sizeof made);
    return fault.code;
}

int jsp_reader_errno(jsprof_read_error *e, int code, const char *path)
{
    if (code < 0)
        jsp_reader_fail(e, (struct jsp_reader_fault){ .code = code, .path = path }, "%s",
                        strerror(-code));
    return code;
}

int jsp_reader_no_tasks(jsprof_read_error *e)
{
    return jsp_reader_fail(e, (struct jsp_reader_fault){ .code = -ENODATA },
                           "no tasks in this capture: the host recorded none (see \"Tasks and "
                           "turns of a loop\" in jsprof.h; lark --profile-tasks)");
}

int jsp_reader_word(jsprof_read_error *e, const char *option, const char *word,
                    const char *const *names)
{
    char known[256] = "";
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], word) == 0)
            return i;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s",
                 i == 0 ? "" : names[i + 1] ? ", " : " and ", names[i]);
    }
    return jsp_reader_fail(e, (struct jsp_reader_fault){ .code = -EINVAL, .option = option },
                           "%s knows %s, not \"%s\"", option, known, word);
}

void jsp_reader_take(void *to, size_t size, const void *from)
{
    size_t given = 0;
    memset(to, 0, size);
    if (from)
        memcpy(&given, from, sizeof given);
    if (given >= sizeof given)
        memcpy(to, from, given < size ? given : size);
}

void jsp_reader_give(void *out, uint64_t i, const void *row, size_t size)
{
    size_t given;
    memcpy(&given, out, sizeof given);
    if (given < sizeof given)
        return;
    char *to = (char *)out + i * given;
    memset(to, 0, given);
    memcpy(to, row, given < size ? given : size);
    memcpy(to, &given, sizeof given);
}

bool jsp_reader_range(uint64_t all, uint64_t first, uint64_t n, const void *out,
                      int64_t *n_rows)
{
    uint64_t left = first < all ? all - first : 0;
    if (n && left > n)
        left = n;
    *n_rows = (int64_t)left;
    return n && out && left;
}

/* -- Texts ------------------------------------------------------------------ */

const char *jsp_reader_text(jsprof_reader *r, struct jsp_read_text text)
{
    if (text.len == 0)
        return "";
    uint32_t hash = (uint32_t)(jsp_hash_bytes(r->by_text.seed, text.at, text.len) >> 16);
    uint32_t probe = hash, at;
    while ((at = jsp_hash_next(&r->by_text, hash, &probe)) != 0) {
        const struct jsp_reader_text *t = &r->texts[at - 1];
        if (t->len == text.len && memcmp(t->at, text.at, t->len) == 0)
            return t->at;
    }
    if (jsp_grow(&r->texts, &r->texts_room, r->n_texts, sizeof *r->texts) < 0)
        return NULL;
    const char *copy = jsp_store_text(&r->store, text.at, text.len);
    if (!copy || jsp_hash_add(&r->by_text, hash, r->n_texts) < 0)
        return NULL;
    r->texts[r->n_texts++] = (struct jsp_reader_text){ copy, text.len };
    return copy;
}

int jsp_reader_keep(struct jsp_store *s, const char **word)
{
    if (!*word)
        return 0;
    *word = jsp_store_text(s, *word, strlen(*word));
    return *word ? 0 : -ENOMEM;
}
