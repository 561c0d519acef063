/* captures_listing.c - listings in the captures for the tests of the tool.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/captures.h"

static size_t captures_row(uint8_t *to, const uint64_t numbers[3], uint64_t target,
                           const char *text)
{
    size_t n = 0;
    for (int i = 0; i < 3; i++)
        n += build_varint(to + n, numbers[i]);
    n += build_varint(to + n, target != 0);
    if (target)
        n += build_varint(to + n, target);
    n += build_varint(to + n, strlen(text));
    memcpy(to + n, text, strlen(text));
    return n + strlen(text);
}

/* The listing of `work`, its rows in two records. */
static void captures_rows(struct builder *b)
{
    static const char name[] = "work (/srv/app/lib/deep/inside/work.js:20:3)";
    uint8_t data[256];
    size_t n = 0;
    memcpy(data, "\1\7\4\54", 4);
    memcpy(data + 4, name, sizeof name - 1);
    build_chunk(b, "jsprof/listings", data, 4 + sizeof name - 1);
    memcpy(data, "\2\7\0\3", n = 4);
    n += captures_row(data + n, (const uint64_t[]){ 10, 20, 0 }, 0, "push 1");
    n += captures_row(data + n, (const uint64_t[]){ 12, 21, 0 }, 18, "unless \"18\"");
    n += captures_row(data + n, (const uint64_t[]){ 16, 22, 1 }, 10, "again\033[31m 10");
    build_chunk(b, "jsprof/listings", data, n);
    memcpy(data, "\2\7\3\1", n = 4);
    n += captures_row(data + n, (const uint64_t[]){ 18, 23, 1 }, 0, "return");
    build_chunk(b, "jsprof/listings", data, n);
}

/* And the row of each of its samples: 16, 16, 12; 16; none. */
void captures_listing(struct builder *b)
{
    captures_good(b);
    captures_rows(b);
    build_chunk(b, "jsprof/pcs", "\1\0\4" "\0\1\3" "\0\1\3" "\0\1\2" "\3\1\3", 15);
}

/* main -> work, at row 12 -> leaf -> work, at row 16. */
void captures_nested(struct builder *b)
{
    const uint64_t addrs[4] = { build_tag(2), build_tag(3), build_tag(2), build_tag(1) };
    captures_start(b, false);
    build_sample(b, addrs, 4);
    captures_rows(b);
    build_chunk(b, "jsprof/pcs", "\1\0\1" "\0\4\3\0\2\0", 9);
}

/* Claims that are not so: rows out of order, targets nowhere, a block that is cut. */
void captures_lies(struct builder *b)
{
    captures_listing(b);
    build_chunk(b, "jsprof/listings", "\2\7\3\1\22\27\1\0\0", 9); /* row 3 again */
    build_chunk(b, "jsprof/listings", "\3\7", 2);
    build_chunk(b, "jsprof/listings", "\11", 1);
    build_chunk(b, "jsprof/pcs", "\1\10\377", 3);
}
