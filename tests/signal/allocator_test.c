/* allocator_test.c - JSPROF_NO_THREAD in a program that the allocator is linked into: no
 * moment is one where it could not be what was interrupted, so a thread it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

enum { HZ = 5000, RING = 1 << 14 /* a fraction of a second */ };

static struct host h;

/* The sanitizers bring their own. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { HAS_OWN = 1 };
void *__libc_malloc(size_t bytes);
void __libc_free(void *at);

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    return __libc_malloc(bytes);
}

__attribute__((visibility("default"))) void free(void *at)
{
    __libc_free(at);
}
#else
enum { HAS_OWN = 0 };
#endif

TEST(program_with_its_own_allocator_is_drained)
{
    jsprof_thread *me;
    jsprof_options o = host_options(HZ, JSPROF_CLOCK_WALL);
    if (!HAS_OWN) {
        SKIP("the allocator here is not ours to bring");
        return;
    }
    o.flags |= JSPROF_NO_THREAD;
    o.ring_bytes = RING;
    if (!host_begin_with(&h, o, &me))
        return;
    while (lseek(h.fd, 0, SEEK_END) < 8 * RING) /* without a drain it does not grow */
        host_burn_ms(1);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_finish(&h);
    CHECK(h.stats.kept > 0);
}

TEST_MAIN()
