/* garbage_test.c - a host that gives the handler garbage: each sample is kept or counted, and the
 * process goes on.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/host.h"

#include <pthread.h>
#include <sys/mman.h>

enum { ROUNDS = 20, CHANGES = 3000 };

static jsprof *session;
static jsprof_thread *me;
static const char *const names[] = { NULL, "", "name", "\xff\x01" };
static const char *entries, *end;
static int32_t depth;
static uint64_t seed = 88172645463325252u;

static uint64_t garbage(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static jsprof_frame garbage_frame(void)
{
    return (jsprof_frame){ .label = names[garbage() % 4], .detail = names[garbage() % 4],
                           .sp = garbage(), .pc = garbage(), .line = (uint32_t)garbage(),
                           .kind = (uint32_t)garbage() };
}

static uint32_t walk(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    const uint32_t found[] = { 0, max, max + 1, UINT32_MAX };
    (void)host, (void)ucontext;
    for (uint32_t i = 0; i < max; i++)
        out[i] = garbage_frame();
    return found[garbage() % 4];
}

static int decode(void *host, const void *entry, jsprof_frame *out)
{
    char bytes[8];
    const void *anywhere;
    uint64_t address = garbage();
    (void)host, (void)entry;
    memcpy(&anywhere, &address, sizeof anywhere);
    jsprof_read(me, bytes, anywhere, sizeof bytes);
    *out = garbage_frame();
    return (int)(garbage() % 3) - 1;
}

static void *run(void *gone)
{
    jsprof_stack by_end = { .size = sizeof by_end, .entries = &entries, .end = &end, .stride = 24,
                            .label_offset = JSPROF_NO_FIELD, .detail_offset = JSPROF_NO_FIELD,
                            .decode_sigsafe = decode };
    jsprof_stack by_depth = by_end;
    by_depth.end = NULL;
    by_depth.depth = &depth;
    by_depth.depth_bytes = sizeof depth;
    if (!CHECK_EQ(jsprof_thread_attach(session, "garbage", &me), 0))
        return NULL;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(jsprof_thread_set_stack(me, i % 2 ? &by_end : &by_depth), 0);
        CHECK_EQ(jsprof_thread_set_walker(me, i % 3 ? walk : NULL, NULL), 0);
        for (int k = 0; k < CHANGES; k++) {
            uint64_t address = garbage();
            entries = gone;
            memcpy(&end, &address, sizeof end);
            depth = (int32_t)garbage();
            jsprof_push(me, names[garbage() % 4], names[garbage() % 4], (uint32_t)garbage());
            jsprof_leave_to(me, (uint32_t)(garbage() % 64));
        }
    }
    return NULL; /* attached */
}

TEST(garbage_of_a_host_is_counted_and_ends_nothing)
{
    pthread_t thread;
    jsprof_options options = host_options(10000, JSPROF_CLOCK_WALL);
    jsprof_stats s = { .size = sizeof s };
    void *gone = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(gone, 4096);
    options.path = "/dev/null";
    if (!CHECK_EQ(jsprof_open(&session, &options), 0) || !CHECK_EQ(jsprof_start(session), 0))
        return;
    do { /* until samples met all of it */
        CHECK_EQ(pthread_create(&thread, NULL, run, gone), 0);
        pthread_join(thread, NULL);
        CHECK_EQ(jsprof_stats_get(session, &s), 0);
    } while (s.samples < 50 || !s.frames_bad || !s.frames_cut || !s.underflows);
    CHECK_EQ(jsprof_stop(session), 0);
    CHECK_EQ(jsprof_stats_get(session, &s), 0);
    CHECK_EQ(s.expirations, s.kept + jsp_losses_of_stats(&s));
    CHECK_EQ(jsprof_close(session), 0);
}

TEST_MAIN()
