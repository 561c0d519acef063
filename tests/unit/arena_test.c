/* unit/arena_test.c - src/sigsafe/arena.c: each name is stored once, also if several threads
 * bring it, and if the arena is full.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/arena.h"

#include <pthread.h>
#include <stdlib.h>

#include "test.h"

enum { BYTES = 1 << 20, SLOTS = 1 << 15 };

static struct jsp_arena arena;
static alignas(8) unsigned char bytes[BYTES];
static _Atomic uint64_t slots[SLOTS];

static void begin(uint64_t n_bytes, uint64_t n_slots)
{
    memset(bytes, '#', sizeof bytes); /* no end of a text by chance */
    memset((void *)slots, 0, sizeof slots);
    struct jsp_arena_memory memory = { bytes, n_bytes, slots, n_slots };
    jsp_arena_init(&arena, &memory);
}

static uint32_t intern(const char *text, uint8_t kind)
{
    return jsp_arena_intern(&arena, text, (uint32_t)strlen(text), kind);
}

TEST(id_0_is_the_lost_label)
{
    begin(4096, 64);
    CHECK_STR(jsp_arena_label(&arena, JSP_LABEL_LOST)->text, "[label lost]");
    CHECK_EQ(jsp_arena_label(&arena, JSP_LABEL_LOST)->kind, JSPROF_KIND_SYNTH);
    CHECK(intern("[label lost]", JSPROF_KIND_VM) != JSP_LABEL_LOST); /* a host's own */
}

TEST(same_bytes_and_kind_are_one_id)
{
    begin(BYTES, SLOTS);
    uint32_t a = intern("name", 0), b = intern("name", 1), c = intern("nam", 0);
    CHECK(a && b && c && a != b && a != c && b != c);
    CHECK_EQ(intern("name", 0), a);
    CHECK_EQ(intern("name", 1), b);
    CHECK_EQ(jsp_arena_intern(&arena, "name!", 4, 0), a); /* by length, not by NUL */
    CHECK_STR(jsp_arena_label(&arena, a)->text, "name");
    CHECK_EQ(jsp_arena_label(&arena, b)->kind, 1);
    CHECK_EQ(jsp_counted(&arena.n_labels), 3);
}

TEST(names_with_nul_and_of_every_length_come_back_whole)
{
    static uint32_t ids[JSP_LABEL_MAX + 1];
    char text[JSP_LABEL_MAX];
    begin(BYTES, SLOTS);
    for (int i = 0; i < JSP_LABEL_MAX; i++)
        text[i] = (char)(i * 7); /* 0 among them */
    for (uint32_t n = 0; n <= JSP_LABEL_MAX; n++)
        ids[n] = jsp_arena_intern(&arena, text, n, 0);
    for (uint32_t n = 0; n <= JSP_LABEL_MAX; n++) {
        const struct jsp_label *label = jsp_arena_label(&arena, ids[n]);
        if (!CHECK(ids[n] != JSP_LABEL_LOST) || !CHECK_EQ(label->len, n) ||
            !CHECK_EQ(memcmp(label->text, text, n), 0) || !CHECK_EQ(label->text[n], 0))
            return;
        CHECK_EQ(jsp_arena_intern(&arena, text, n, 0), ids[n]);
    }
}

TEST(full_arena_answers_lost_and_still_finds_what_it_has)
{
    char text[32];
    uint32_t first, last = 0, n = 0;
    begin(4096, 4096);
    first = intern("name 0", 0);
    for (;; n++) {
        snprintf(text, sizeof text, "name %u", n);
        uint32_t id = intern(text, 0);
        if (id == JSP_LABEL_LOST)
            break;
        last = id;
    }
    CHECK_EQ(jsp_counted(&arena.n_lost), 1);
    CHECK_EQ(n, 100 + (4096 - 24 - 100 * 16) / 24); /* three digits take 24 bytes */
    CHECK_EQ(intern("name 0", 0), first);
    snprintf(text, sizeof text, "name %u", n - 1);
    CHECK_EQ(intern(text, 0), last);
    CHECK_EQ(jsp_counted(&arena.n_lost), 1);
    CHECK_EQ(intern("another", 0), JSP_LABEL_LOST);
    CHECK_EQ(jsp_counted(&arena.n_lost), 2);
    CHECK(jsp_counted(&arena.used) <= 4096);
}

TEST(entry_that_ends_with_the_arena_fits_and_one_past_does_not)
{
    char text[1024] = { 0 };
    memset(text, 'x', sizeof text - 1);
    begin(4096, 64);
    uint64_t room = 4096 - jsp_counted(&arena.used); /* 8 + len + 1 a name */
    for (; room > 1024; room = 4096 - jsp_counted(&arena.used)) {
        text[0]++;
        CHECK(jsp_arena_intern(&arena, text, 503, 0) != JSP_LABEL_LOST); /* 512 */
    }
    CHECK_EQ(jsp_arena_intern(&arena, text, (uint32_t)room - 8, 0), JSP_LABEL_LOST);
    text[0]++;
    uint32_t half = (uint32_t)room / 16 * 8;
    CHECK(jsp_arena_intern(&arena, text, half - 9, 0) != JSP_LABEL_LOST);
    text[0]++;
    CHECK(jsp_arena_intern(&arena, text, (uint32_t)room - half - 9, 0) != JSP_LABEL_LOST);
    CHECK_EQ(jsp_counted(&arena.used), 4096);
    CHECK_EQ(intern("", 0), JSP_LABEL_LOST);
}

TEST(probes_are_bounded_when_the_table_is_full)
{
    char text[32];
    uint32_t found = 0;
    begin(BYTES, 64); /* as many slots as probes: all of them are looked at */
    for (int i = 0; i < 64; i++) {
        snprintf(text, sizeof text, "name %d", i);
        found += intern(text, 0) != JSP_LABEL_LOST;
    }
    CHECK_EQ(found, 64);
    uint64_t used = jsp_counted(&arena.used);
    CHECK_EQ(intern("one more", 0), JSP_LABEL_LOST);
    CHECK_EQ(jsp_counted(&arena.used), used); /* and no bytes were spent on it */
    CHECK(intern("name 63", 0) != JSP_LABEL_LOST);
}

/* Names that differ for the table only in their bytes. */
TEST(equal_hashes_are_told_apart_by_their_bytes)
{
    begin(BYTES, SLOTS);
    uint32_t id = intern("one", 0);
    struct jsp_label *forged = (void *)(bytes + (uint64_t)id * 8);
    memcpy(forged->text, "two", 3); /* now "one" hashes to where "two" stands */
    uint32_t again = intern("one", 0);
    CHECK(again != id);
    CHECK_STR(jsp_arena_label(&arena, again)->text, "one");
    CHECK_STR(jsp_arena_label(&arena, id)->text, "two");
    memcpy(forged->text, "one", 3);
    forged->kind = JSPROF_KIND_GC;
    CHECK_EQ(intern("one", 0), again); /* not of the other kind */
}

enum { THREADS = 4, NAMES = 2000, ROUNDS = 20 };

static uint32_t seen[THREADS][NAMES];
static pthread_barrier_t barrier;

static void *intern_all(void *arg)
{
    uint32_t *mine = arg;
    char text[32];
    for (uint32_t i = 0; i < NAMES; i++) {
        if (i % 100 == 0)
            pthread_barrier_wait(&barrier); /* meet at the same name again */
        snprintf(text, sizeof text, "a name of many %u", i);
        mine[i] = intern(text, 0);
    }
    return NULL;
}

TEST(threads_that_bring_one_name_at_once_get_one_id)
{
    uint64_t differ = 0, wrong = 0;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        begin(BYTES, SLOTS);
        for (int i = 0; i < THREADS; i++)
            if (!CHECK_EQ(pthread_create(&threads[i], NULL, intern_all, seen[i]), 0))
                exit(1);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        for (uint32_t n = 0; n < NAMES; n++) {
            char text[32];
            snprintf(text, sizeof text, "a name of many %u", n);
            for (int i = 1; i < THREADS; i++)
                differ += seen[i][n] != seen[0][n];
            wrong += strcmp(jsp_arena_label(&arena, seen[0][n])->text, text) != 0;
        }
        CHECK_EQ(jsp_counted(&arena.n_labels), NAMES);
    }
    CHECK_EQ(differ, 0);
    CHECK_EQ(wrong, 0);
}

TEST_MAIN()
