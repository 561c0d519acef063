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

TEST_MAIN()
