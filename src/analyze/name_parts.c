/* analyze/name_parts.c - "name (file:line:column)" in its parts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "name_parts.h"

#include <string.h>

enum { NAME_MOST_LINE = 1000000000 };

/* Remove the last colon and the number after it from text[0, *len). Return the number, or
 * 0 if there is none. */
static uint32_t name_number(const char *text, size_t *len)
{
    uint64_t number = 0, scale = 1;
    size_t at = *len;
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9' &&
           scale < NAME_MOST_LINE) {
        number += (uint64_t)(text[--at] - '0') * scale;
        scale *= 10;
    }
    if (at == *len || at == 0 || text[at - 1] != ':')
        return 0;
    *len = at - 1;
    return (uint32_t)number;
}

/* Return where the place begins: after the last " (" of a name that ends in ")". */
static size_t name_place(const char *name, size_t len)
{
    if (len < 4 || name[len - 1] != ')')
        return 0;
    for (size_t i = len - 1; i > 2; i--)
        if (name[i - 1] == '(' && name[i - 2] == ' ')
            return i;
    return 0;
}

bool jsp_name_is_file(struct jsp_read_text name)
{
    static const char *const endings[] = { ".js", ".mjs", ".cjs", ".lua" };
    static const char url[] = "file://";
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (name.len > n && memcmp(name.at + name.len - n, endings[i], n) == 0)
            return true;
    }
    return name.len && (*name.at == '/' || (name.len > strlen(url) &&
                                            memcmp(name.at, url, strlen(url)) == 0));
}

struct jsp_name_parts jsp_name_split(const char *name)
{
    size_t len = strlen(name), at = name_place(name, len);
    struct jsp_name_parts parts = { .name = { name, (uint32_t)len } };
    size_t file = at ? len - 1 - at : len;
    uint32_t last = name_number(name + at, &file);
    uint32_t before = last ? name_number(name + at, &file) : 0;
    if (last == 0 || file == 0)
        return parts; /* parentheses, but no place */
    if (at == 0 && !jsp_name_is_file((struct jsp_read_text){ name, (uint32_t)file }))
        return parts;
    parts.line = before ? before : last;
    parts.column = before ? last : 0;
    parts.name.len = at ? (uint32_t)(at - 2) : parts.name.len;
    parts.file = (struct jsp_read_text){ name + at, (uint32_t)file };
    return parts;
}
