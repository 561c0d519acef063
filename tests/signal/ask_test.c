/* ask_test.c - src/sigsafe/ask.c and stack.c: a handler asks the drain to look at what is
 * loaded where a walk ended in unknown code, and only there; and whom it wakes. It asks for
 * the rows of an object once, when a sample has met it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "session/session.h"
#include "test.h"

static void burn_ms(uint64_t ms)
{
    uint64_t end = jsp_now_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;
    while (jsp_now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        continue;
}

/* A session of plain C code. */
struct a_session {
    jsprof *prof;
    jsprof_thread *me;
    int fd;
    jsprof_stats stats; /* after its end */
};

static bool begin(struct a_session *s, uint32_t flags)
{
    jsprof_options options = { .size = sizeof options, .flags = JSPROF_USE_FD | flags,
                               .hz = 1000 };
    *s = (struct a_session){ .stats.size = sizeof s->stats };
    s->fd = options.fd = memfd_create("capture", MFD_CLOEXEC);
    return CHECK_EQ(jsprof_open(&s->prof, &options), 0) &&
           CHECK_EQ(jsprof_thread_attach(s->prof, "main", &s->me), 0);
}

static void end(struct a_session *s)
{
    CHECK_EQ(jsprof_stats_get(s->prof, &s->stats), 0);
    CHECK_EQ(jsprof_close(s->prof), 0);
    CHECK_EQ(jsprof_thread_detach(s->me), 0);
    close(s->fd);
}

static uint32_t rings(const jsprof *prof)
{
    return atomic_load_explicit(&prof->ask.bell, memory_order_relaxed);
}

static uint64_t samples_of(jsprof *prof)
{
    jsprof_stats stats = { .size = sizeof stats };
    CHECK_EQ(jsprof_stats_get(prof, &stats), 0);
    return stats.samples;
}

/* A sample may still meet an object that had none before, however late on a busy machine: then the
 * next 100 ms have to do. */
TEST(whole_stacks_wake_nobody_once_their_objects_have_rows)
{
    struct a_session s;
    uint64_t samples = 0;
    uint32_t n = 1;
#ifndef __GLIBC__
    SKIP("needs a C library with unwind rows");
    return;
#endif
    if (!begin(&s, 0))
        return;
    CHECK_EQ(jsprof_start(s.prof), 0);
    for (int i = 0; i < 100 && (n || samples < 5); i++) {
        uint64_t before = samples_of(s.prof);
        uint32_t first = rings(s.prof);
        burn_ms(100);
        n = rings(s.prof) - first;
        samples = samples_of(s.prof) - before;
    }
    CHECK_EQ(jsprof_stop(s.prof), 0);
    end(&s);
    CHECK_EQ(n, 0);
    CHECK(samples >= 5);
}

static uint32_t with_rows(jsprof *prof)
{
    const struct jsp_unwind_map *map = jsp_objects_map(&prof->objects);
    uint32_t n = 0;
    for (uint32_t i = 0; i < map->n; i++)
        n += map->objects[i].n_rows > 0;
    return n;
}

/* The threads of the case before were joined, but the kernel may still list them. A session without
 * a thread serves itself only in a program of one. */
static void until_alone(void)
{
    struct stat st;
    for (int i = 0; i < 200 && stat("/proc/self/task", &st) == 0 && st.st_nlink > 3; i++)
        poll(NULL, 0, 10);
}

static void rows_of_a_session(uint32_t flags)
{
    struct a_session s;
    until_alone();
    if (!begin(&s, flags))
        return;
    const struct jsp_unwind_map *map = jsp_objects_map(&s.prof->objects);
    const struct jsp_unwind_object *own = jsp_unwind_map_find(map, (uintptr_t)with_rows);
    uint32_t n = map->n;
    if (!own || !jsp_unwind_map_unread(map, own)) {
        SKIP("needs process_vm_readv, and a sorted header in this program");
        return end(&s);
    }
    CHECK(n >= 2);
    CHECK_EQ(with_rows(s.prof), 0);
    CHECK_EQ(jsprof_start(s.prof), 0);
    for (int i = 0; i < 200 && !with_rows(s.prof); i++)
        burn_ms(10);
    CHECK(with_rows(s.prof) > 0);
    CHECK_EQ(jsprof_flush(s.prof), 0);
    CHECK(with_rows(s.prof) < n); /* nothing runs in the kernel's page */
    CHECK_EQ(jsprof_stop(s.prof), 0);
    end(&s);
#if defined __GLIBC__ && !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
    CHECK_EQ(s.stats.stop_end, s.stats.samples); /* the first ones, too */
#endif
}

TEST_OF(session_makes_the_rows_of_the_objects_that_its_samples_have_met, rows_of_a_session(0))
TEST_OF(session_without_a_thread_makes_the_rows_of_the_objects_that_its_samples_have_met,
        rows_of_a_session(JSPROF_NO_THREAD))

TEST(session_that_ends_makes_no_rows_and_a_later_run_makes_them)
{
    struct a_session s;
    if (!begin(&s, 0))
        return;
    const struct jsp_unwind_map *map = jsp_objects_map(&s.prof->objects);
    const struct jsp_unwind_object *own = jsp_unwind_map_find(map, (uintptr_t)with_rows);
    const struct jsp_unwind_unread *unread = own ? jsp_unwind_map_unread(map, own) : NULL;
    if (!unread) {
        SKIP("needs process_vm_readv, and a sorted header in this program");
        return end(&s);
    }
    atomic_store_explicit(unread->is_met, 1, memory_order_relaxed);
    jsp_objects_hurry(&s.prof->objects, true);
    CHECK(jsp_objects_build(&s.prof->objects, 1) >= 0);
    CHECK_EQ(with_rows(s.prof), 0);
    jsp_objects_hurry(&s.prof->objects, false);
    CHECK_EQ(jsp_objects_build(&s.prof->objects, 2), 1);
    CHECK_EQ(with_rows(s.prof), 1);
    end(&s);
}

TEST(drain_is_asked_for_rows_once_until_it_has_looked)
{
    struct jsp_ask ask = { 0 };
    CHECK(!jsp_ask_has_rows(&ask));
    jsp_ask_rows(&ask);
    jsp_ask_rows(&ask);
    CHECK(jsp_ask_has_rows(&ask));
    CHECK_EQ(atomic_load(&ask.bell), 1);
    jsp_ask_take_rows(&ask);
    CHECK(!jsp_ask_has_rows(&ask));
    jsp_ask_rows(&ask);
    CHECK_EQ(atomic_load(&ask.bell), 2);
    CHECK_EQ(jsp_ask_state(&ask), JSP_ASK_NO); /* it may still be asked to look */
}

TEST(drain_is_asked_once_until_it_has_looked_and_not_while_it_rests)
{
    struct jsp_ask ask = { 0 };
    CHECK(jsp_ask_look(&ask));
    CHECK(jsp_ask_look(&ask));
    CHECK_EQ(jsp_ask_state(&ask), JSP_ASK_YES);
    CHECK_EQ(atomic_load(&ask.bell), 1);
    jsp_ask_set(&ask, JSP_ASK_REST);
    CHECK(jsp_ask_look(&ask));
    jsp_ask_set(&ask, JSP_ASK_VAIN);
    CHECK(!jsp_ask_look(&ask));
    CHECK_EQ(atomic_load(&ask.bell), 1);
    jsp_ask_set(&ask, JSP_ASK_NO);
    CHECK(jsp_ask_look(&ask));
    CHECK_EQ(atomic_load(&ask.bell), 2);
}

TEST_MAIN()
