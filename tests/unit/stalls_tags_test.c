/* stalls_tags_test.c - src/tasks/stalls_tags.c: labels of tasks in a ring that several threads fill
 * while others read where it is overwritten.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tasks/tasks.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "test.h"

enum { WRITERS = 4, PAIRS = 3, VALUE = 240, LOG = 1 << 14, ENOUGH = 10000 };

static struct jsp_tasks_shared shared;

static void begin(void)
{
    void *at = mmap(NULL, sizeof *shared.table, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(at != MAP_FAILED);
    shared = (struct jsp_tasks_shared){ .table = at };
}

static void end(void)
{
    munmap(shared.table, sizeof *shared.table);
}

static struct jsp_tasks *thread_new(void)
{
    struct jsp_tasks *k = calloc(1, sizeof *k);
    k->self = calloc(1, sizeof *k->self);
    k->shared = &shared;
    return k;
}

static void thread_free(struct jsp_tasks *k)
{
    free(k->self);
    free(k);
}

/* Set labels whose values are one letter, of a length that the number decides. */
static void set_labels(struct jsp_tasks *k, uint32_t number)
{
    char value[VALUE];
    memset(value, 'a' + (int)(number % 26), sizeof value);
    for (char key[] = "0"; *key < '0' + PAIRS; ++*key) {
        const struct jsp_tags_pair pair = { key, value, 1, VALUE - number % 40 };
        jsp_tags_set(&k->self->tags, &pair);
    }
}

/* Are these the labels of one call? */
static bool is_one(const uint8_t *at, uint32_t n)
{
    struct jsp_tag tag, first = { .value = NULL };
    const uint8_t *stop = at + n;
    uint32_t pairs = 0;
    for (; jsp_tag_next(&at, stop, &tag); pairs++) {
        first = pairs ? first : tag;
        bool is = tag.n_value == first.n_value;
        for (uint32_t i = 0; i < tag.n_value && is; i++)
            is = tag.value[i] == first.value[0];
        if (!is)
            return false;
    }
    return pairs == PAIRS && at == stop;
}

TEST(labels_come_back_and_equal_ones_are_stored_once)
{
    uint8_t bytes[JSP_TAGS_BYTES], is[JSP_TAGS_BYTES];
    begin();
    struct jsp_tasks *k = thread_new();
    CHECK_EQ(jsp_stalls_tags_now(k), 0);
    CHECK_EQ(atomic_load(&shared.table->n_tags), 0);
    set_labels(k, 1);
    uint64_t at = jsp_stalls_tags_now(k), used = atomic_load(&shared.table->n_tags);
    CHECK(at > 0);
    CHECK_EQ(jsp_stalls_tags_now(k), at);
    CHECK_EQ(atomic_load(&shared.table->n_tags), used);
    set_labels(k, 2);
    uint64_t next = jsp_stalls_tags_now(k);
    CHECK_EQ(next, at + used);
    uint32_t n = jsp_tags_take(&k->self->tags, NULL, is);
    CHECK_EQ(jsp_stalls_tags_get(shared.table, next, bytes), n);
    CHECK(memcmp(bytes, is, n) == 0);
    CHECK(jsp_stalls_tags_get(shared.table, at, bytes) > 0);
    CHECK_EQ(bytes[JSP_TAGS_HEAD + 1], 'b');
    CHECK_EQ(jsp_stalls_tags_get(shared.table, at + 1, bytes), 0); /* no header */
    thread_free(k);
    end();
}

TEST(labels_are_gone_after_one_turn_of_the_ring)
{
    uint8_t bytes[JSP_TAGS_BYTES];
    begin();
    struct jsp_tasks *k = thread_new();
    set_labels(k, 0);
    uint64_t at = jsp_stalls_tags_now(k);
    for (uint32_t i = 1; atomic_load(&shared.table->n_tags) < JSP_STALLS_TAGS; i++) {
        CHECK(jsp_stalls_tags_get(shared.table, at, bytes) > 0);
        set_labels(k, i);
        jsp_stalls_tags_now(k);
    }
    set_labels(k, 1);
    jsp_stalls_tags_now(k);
    CHECK_EQ(jsp_stalls_tags_get(shared.table, at, bytes), 0);
    thread_free(k);
    end();
}

TEST(labels_that_stay_the_same_are_stored_again_before_they_are_gone)
{
    uint8_t bytes[JSP_TAGS_BYTES];
    begin();
    struct jsp_tasks *k = thread_new(), *other = thread_new();
    set_labels(k, 3);
    for (uint32_t i = 0; atomic_load(&shared.table->n_tags) < 2 * JSP_STALLS_TAGS; i++) {
        set_labels(other, i);
        jsp_stalls_tags_now(other);
        CHECK(jsp_stalls_tags_get(shared.table, jsp_stalls_tags_now(k), bytes) > 0);
    }
    thread_free(k);
    thread_free(other);
    end();
}

/* -- Several threads --------------------------------------------------------------- */

static _Atomic uint64_t places[WRITERS][LOG]; /* the last ones of each */
static _Atomic uint64_t n_places[WRITERS];
static _Atomic bool is_over;

static void *writes(void *number)
{
    uint32_t me = (uint32_t)(uintptr_t)number;
    struct jsp_tasks *k = thread_new();
    for (uint32_t i = 0; !atomic_load(&is_over); i++) {
        set_labels(k, i * WRITERS + me);
        uint64_t n = atomic_load(&n_places[me]);
        atomic_store(&places[me][n % LOG], jsp_stalls_tags_now(k));
        atomic_store(&n_places[me], n + 1);
    }
    thread_free(k);
    return NULL;
}

/* Read what each writer stored where the ring is overwritten just now. */
static void read_edge(uint64_t *right, uint64_t *gone, uint64_t *wrong)
{
    uint8_t bytes[JSP_TAGS_BYTES];
    for (int w = 0; w < WRITERS; w++) {
        uint64_t n = atomic_load(&n_places[w]), low = n > LOG ? n - LOG : 0, high = n;
        uint64_t edge = atomic_load(&shared.table->n_tags);
        edge = edge > JSP_STALLS_TAGS ? edge - JSP_STALLS_TAGS : 1;
        while (low + 1 < high) { /* places ascend */
            uint64_t middle = low + (high - low) / 2;
            if (atomic_load(&places[w][middle % LOG]) < edge)
                low = middle;
            else
                high = middle;
        }
        for (uint64_t i = low; i < n && i < low + 8; i++) {
            uint32_t got = jsp_stalls_tags_get(shared.table,
                                               atomic_load(&places[w][i % LOG]), bytes);
            *gone += !got;
            *right += got && is_one(bytes, got);
            *wrong += got && !is_one(bytes, got);
        }
    }
}

TEST(a_reader_gets_the_labels_of_one_call_or_none)
{
    pthread_t threads[WRITERS];
    uint64_t right = 0, gone = 0, wrong = 0;
    begin();
    for (uintptr_t w = 0; w < WRITERS; w++)
        CHECK_EQ(pthread_create(&threads[w], NULL, writes, (void *)w), 0);
    while (right < ENOUGH || gone < ENOUGH)
        read_edge(&right, &gone, &wrong);
    atomic_store(&is_over, true);
    for (int w = 0; w < WRITERS; w++)
        pthread_join(threads[w], NULL);
    printf("# %" PRIu64 " right, %" PRIu64 " gone\n", right, gone);
    CHECK_EQ(wrong, 0);
    end();
}

TEST_MAIN()
