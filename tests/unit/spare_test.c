/* unit/spare_test.c - src/session/spare.c: when a thread's record is freed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/thread.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "test.h"

TEST(record_is_freed_only_where_neither_the_session_nor_a_handler_uses_it)
{
    size_t page = 4096, bytes = (sizeof(struct jsp_thread) + page - 1) / page * page;
    struct jsp_thread *t = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    t->bytes = bytes;
    t->listed = true;
    jsp_thread_release(t);
    if (!CHECK_EQ(msync(t, bytes, MS_ASYNC), 0))
        return;
    t->listed = false;
    t->stuck = true;
    jsp_thread_release(t);
    if (!CHECK_EQ(msync(t, bytes, MS_ASYNC), 0))
        return;
    t->stuck = false;
    jsp_thread_release(t);
    CHECK(msync(t, bytes, MS_ASYNC) != 0);
}

TEST(record_of_another_thread_is_zero_but_for_its_caches)
{
    enum { USED = 0xAB };
    static struct jsp_thread t;
    struct jsp_spares spares = { 0 };
    const unsigned char *bytes = (void *)&t;
    const size_t n_caches = sizeof t.sampled.vm.known + sizeof t.sampled.names.cache +
                            sizeof t.sampled.unwinder.cache + sizeof t.sampled.unwinder.live +
                            sizeof t.sampled.printed + sizeof t.tasks.names.cache;
    size_t n_used = 0, n_zero = 0;
    memset(&t, USED, sizeof t);
    memset(&t.sampled.ring, 0, sizeof t.sampled.ring);
    memset(&t.tasks.ring, 0, sizeof t.tasks.ring);
    t.owned = t.stuck = false;
    t.last = NULL;
    t.calls = NULL;
    t.sampled.alloc.table = NULL;
    t.tasks.n_stacks = 0;
    t.looked = NULL;
    t.link = NULL;
    t.bytes = sizeof t;
    jsp_spare_put(&spares, &t);
    CHECK_EQ(spares.n, 1);
    CHECK(!jsp_spare_take(&spares, sizeof t + 1));
    CHECK(jsp_spare_take(&spares, sizeof t) == &t);
    CHECK(spares.n == 0 && !spares.first);
    for (size_t i = 0; i < sizeof t; i++) {
        n_used += bytes[i] == USED;
        n_zero += !bytes[i];
    }
    CHECK_EQ(n_used, n_caches);
    CHECK_EQ(n_zero, sizeof t - n_caches);
}

TEST_MAIN()
