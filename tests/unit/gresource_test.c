/* gresource_test.c - src/analyze/gresource.c: files in a table of GLib's resources, and tables
 * that are damaged.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/gresource.h"

#include <stdlib.h>

#include "test.h"

enum {
    ITEMS = 3,
    KEYS = 32 + 24 * ITEMS,
    PLAIN = KEYS + 16,
    PACKED = PLAIN + 24,
    ALL = PACKED + 24,
};

static uint8_t table[ALL];

static void put(size_t at, uint32_t value)
{
    memcpy(table + at, &value, sizeof value);
}

struct item {
    uint32_t parent, key, key_size, from, to;
    char type;
};

static void put_item(uint32_t i, struct item item)
{
    size_t at = 32 + 24 * (size_t)i;
    put(at + 4, item.parent);
    put(at + 8, item.key);
    put(at + 12, item.key_size); /* two bytes, and two that the type replaces */
    table[at + 14] = (uint8_t)item.type;
    put(at + 16, item.from);
    put(at + 20, item.to);
}

static void put_file(size_t at, uint32_t size, uint32_t flags, const char *text)
{
    put(at, size);
    put(at + 4, flags);
    memcpy(table + at + 8, text, 4);
    memcpy(table + at + 12, "\0\0(uuay)", 8);
}

/* "/org/" with the files "a.js" and "b.js", of which GLib has compressed the second. */
static void make(void)
{
    memset(table, 0, sizeof table);
    memcpy(table, "GVariant", 8);
    put(16, 24); /* the root */
    put(20, KEYS);
    memcpy(table + KEYS, "/org/a.jsb.js", 13);
    put_item(0, (struct item){ UINT32_MAX, KEYS, 5, 0, 0, 'L' });
    put_item(1, (struct item){ 0, KEYS + 5, 4, PLAIN, PLAIN + 20, 'v' });
    put_item(2, (struct item){ 0, KEYS + 9, 4, PACKED, PACKED + 20, 'v' });
    put_file(PLAIN, 4, 0, "text");
    put_file(PACKED, 4, 1, "zzzz");
}

/* Look in a copy of exactly that size, so that a sanitizer sees each read outside. */
static bool finds(const char *path, size_t size, const char *text)
{
    char *copy = malloc(size ? size : 1);
    if (!copy)
        return false;
    memcpy(copy, table, size);
    struct jsp_read_text all = { copy, (uint32_t)size }, is = jsp_gresource_find(all, path);
    bool found = is.at && (!text || jsp_read_is(is, text));
    CHECK(!is.at || (is.at >= copy && is.at + is.len <= copy + size));
    free(copy);
    return found;
}

TEST(file_is_found_by_its_whole_path)
{
    make();
    CHECK(finds("/org/a.js", ALL, "text"));
    CHECK(!finds("a.js", ALL, NULL));
    CHECK(!finds("/x/org/a.js", ALL, NULL));
    CHECK(!finds("/org/", ALL, NULL));
    CHECK(!finds("", ALL, NULL));
}

TEST(compressed_file_is_not_read)
{
    make();
    CHECK(!finds("/org/b.js", ALL, NULL));
    put(PACKED + 4, 0);
    CHECK(finds("/org/b.js", ALL, "zzzz"));
}

TEST(size_beyond_the_value_is_refused)
{
    make();
    put(PLAIN, 5); /* the bytes that are there, and the NUL after them */
    CHECK(finds("/org/a.js", ALL, NULL));
    put(PLAIN, 6);
    CHECK(!finds("/org/a.js", ALL, NULL));
}

TEST(parents_in_a_circle_end)
{
    make();
    put_item(0, (struct item){ 0, KEYS, 0, 0, 0, 'L' });
    CHECK(!finds("/org/a.js", ALL, NULL));
}

TEST(damaged_tables_do_no_harm)
{
    int found = 0;
    for (size_t n = 0; n <= ALL; n++) {
        make();
        found += finds("/org/a.js", n, NULL);
    }
    for (size_t at = 0; at < ALL; at++)
        for (int bit = 0; bit < 8; bit++) {
            make();
            table[at] ^= (uint8_t)(1 << bit);
            found += finds("/org/a.js", ALL, NULL);
        }
    CHECK(found > 0 && found < 8 * ALL);
}

TEST_MAIN()
