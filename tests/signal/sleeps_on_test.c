/* sleeps_on_test.c - jsp_task_descriptor in src/session/task.c: a sleep has the kind of its
 * descriptor.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "host.h"

enum { ON_KINDS = 5, ON_MS = 50 };

static int on_wake[ON_KINDS]; /* what is written here ends the sleep; negative: it ends itself */
static _Atomic uint32_t on_turn;

static void *on_waker(void *arg)
{
    uint64_t one = 1;
    (void)arg;
    for (uint32_t i = 0; i < ON_KINDS; i++) {
        while (host_counted(&on_turn) <= i)
            usleep(1000);
        usleep(ON_MS * 1000);
        if (on_wake[i] >= 0)
            CHECK_EQ(write(on_wake[i], &one, sizeof one), sizeof one);
    }
    return NULL;
}

static uint64_t on_weight(const struct host *h, const char *detail)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < h->profile.n_stacks; i++)
        if (jsp_read_is(jsp_profile_state(&h->profile, i)->detail, detail))
            sum += h->profile.stacks[i].weight;
    return sum;
}

TEST(sleep_has_the_kind_of_its_descriptor)
{
    static const char *const names[ON_KINDS] = { "read (pipe)", "read (eventfd)", "read (socket)",
                                                 "read (timerfd)", "recvfrom" };
    struct itimerspec soon = { .it_value = { 0, ON_MS * 1000000 } };
    jsprof_options options = host_options(1000, JSPROF_CLOCK_WALL);
    struct host h;
    int from[ON_KINDS], pair[2];
    char bytes[64];
    options.flags |= JSPROF_LOOKER;
    CHECK_EQ(pipe(pair), 0);
    from[0] = pair[0], on_wake[0] = pair[1];
    from[1] = on_wake[1] = eventfd(0, EFD_CLOEXEC);
    for (int i = 2; i < ON_KINDS; i += 2) {
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        from[i] = pair[0], on_wake[i] = pair[1];
    }
    from[3] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), on_wake[3] = -1;
    if (!host_begin_with(&h, options, &(jsprof_thread *){ NULL }))
        return;
    pthread_t waker = host_thread(on_waker, NULL);
    for (int i = 0; i < ON_KINDS; i++) {
        host_count(&on_turn);
        if (i == 3)
            timerfd_settime(from[i], 0, &soon, NULL);
        CHECK((i == 4 ? recv(from[i], bytes, sizeof bytes, 0)
                      : read(from[i], bytes, sizeof bytes)) > 0);
    }
    pthread_join(waker, NULL);
    if (host_close(&h)) {
        host_check(&h);
        for (int i = 0; i < ON_KINDS; i++)
            if (!CHECK(on_weight(&h, names[i]) >= ON_MS / 2))
                printf("# %s: %u\n", names[i], (unsigned)on_weight(&h, names[i]));
    }
    host_free(&h);
}

int main(void)
{
    RUN(sleep_has_the_kind_of_its_descriptor);
    return DONE();
}
