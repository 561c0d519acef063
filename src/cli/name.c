/* cli/name.c - prints a name from a capture: harmless, and in a limited width.
 *
 * SPDX-License-Identifier: MIT
 */
#define _XOPEN_SOURCE 700
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "text.h"

enum { NAME_PIECE = 16, NAME_LONGEST = 16384, NAME_PATH_LEAST = 6 };

/* One character as it is printed: its bytes and its columns. */
struct name_piece {
    char text[NAME_PIECE];
    int columns;
    size_t used; /* bytes of the name that it replaces */
};

/* Return true for printable characters that reorder or hide the text around them. */
static bool name_is_trick(wchar_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
           (c >= 0xe0000 && c <= 0xe0fff);
}

static void name_escape(struct name_piece *p, const char *format, unsigned value)
{
    snprintf(p->text, sizeof p->text, format, value);
    p->columns = (int)strlen(p->text);
}

static void name_next(const struct cli_style *s, struct cli_span rest,
                      struct name_piece *p)
{
    mbstate_t state = { 0 };
    wchar_t c = 0;
    unsigned char byte = (unsigned char)rest.at[0];
    size_t n = byte < 0x80 ? 1 : mbrtowc(&c, rest.at, rest.len, &state);
    if (byte < 0x80)
        c = byte;
    p->used = 1;
    if (n == 0 || n > 4) {
        name_escape(p, "\\x%02x", byte);
        return;
    }
    p->used = n;
    int columns = c < 0x80 ? 1 : wcwidth(c);
    bool is_foreign = c >= 0x80 && !s->is_utf8 && s->is_colour;
    if (name_is_trick(c) || columns < 0 || is_foreign) {
        name_escape(p, c < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)c);
        return;
    }
    memcpy(p->text, rest.at, n);
    p->text[n] = 0;
    p->columns = columns;
}

static int name_columns(const struct cli_style *s, struct cli_span name)
{
    struct name_piece p;
    int columns = 0;
    for (size_t at = 0; at < name.len; at += p.used) {
        name_next(s, (struct cli_span){ name.at + at, name.len - at }, &p);
        columns += p.columns;
    }
    return columns;
}

/* Print from the start until `room` is full. Returns the columns printed. */
static int name_print(const struct cli_style *s, struct cli_span name, int room)
{
    struct name_piece p;
    int columns = 0;
    for (size_t at = 0; at < name.len; at += p.used) {
        name_next(s, (struct cli_span){ name.at + at, name.len - at }, &p);
        if (columns + p.columns > room)
            break;
        fputs(p.text, stdout);
        columns += p.columns;
    }
    return columns;
}

/* Find the longest end of the name that fits into `room`. */
static struct cli_span name_tail(const struct cli_style *s, struct cli_span name,
                                 int room)
{
    struct name_piece p;
    int columns = name_columns(s, name);
    size_t at = 0;
    for (; at < name.len && columns > room; at += p.used) {
        name_next(s, (struct cli_span){ name.at + at, name.len - at }, &p);
        columns -= p.columns;
    }
    return (struct cli_span){ name.at + at, name.len - at };
}

static int name_print_cut(const struct cli_style *s, struct cli_span name, int room)
{
    const char *dots = s->is_utf8 ? "…" : "...";
    int width = s->is_utf8 ? 1 : 3, left = room - width;
    if (left < 2)
        return name_print(s, name, room);
    int tail = left / 3;
    int used = name_print(s, name, left - tail);
    fputs(dots, stdout);
    return used + width + name_print(s, name_tail(s, name, tail), tail);
}

/* Fewer directories, as many as still fit: "name (…/dir/file.js:3)". */
static int name_print_path(const struct cli_style *s, struct cli_span name, int room)
{
    const char *dots = s->is_utf8 ? "…" : "...";
    size_t path = name.len < 4 || name.at[name.len - 1] != ')' ? 0 : name.len - 1;
    while (path > 1 && (name.at[path - 1] != '(' || name.at[path - 2] != ' '))
        path--;
    if (path <= 1) /* it is no "name (path:line)" */
        return name_print_cut(s, name, room);
    struct cli_span head = { name.at, path };
    int fixed = name_columns(s, head) + (s->is_utf8 ? 1 : 3);
    for (size_t i = path; i < name.len; i++) {
        struct cli_span tail = { name.at + i, name.len - i };
        if (name.at[i] != '/' || fixed + name_columns(s, tail) > room)
            continue;
        name_print(s, head, room);
        fputs(dots, stdout);
        return fixed + name_print(s, tail, room);
    }
    if (fixed + NAME_PATH_LEAST > room)
        return name_print_cut(s, name, room);
    name_print(s, head, room);
    fputs(dots, stdout);
    struct cli_span path_all = { name.at + path, name.len - path };
    return fixed + name_print(s, name_tail(s, path_all, room - fixed), room - fixed);
}

int cli_name(const struct cli_style *s, struct cli_span name, int room)
{
    if (name.len > NAME_LONGEST)
        name.len = NAME_LONGEST;
    int columns = room > 0 ? name_columns(s, name) : 0;
    if (columns <= room || room <= 0)
        return name_print(s, name, room > 0 ? room : 8 * NAME_LONGEST);
    return name_print_path(s, name, room);
}

char *cli_clean(const struct cli_style *s, struct cli_span name)
{
    char *out = malloc(name.len * NAME_PIECE + 1), *to = out;
    struct name_piece p;
    for (size_t at = 0; out && at < name.len; at += p.used) {
        name_next(s, (struct cli_span){ name.at + at, name.len - at }, &p);
        to = stpcpy(to, p.text);
    }
    if (out)
        *to = 0;
    return out;
}
