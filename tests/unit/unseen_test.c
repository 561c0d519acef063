/* unit/unseen_test.c - src/session/unseen.c: a signal that waits is seen in a status of any
 * length.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/thread.h"
#include "session/unseen.h"

#include <grp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

static sem_t ready, over;
static pid_t tid;

static void *block(void *unused)
{
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    pthread_kill(pthread_self(), SIGUSR1);
    tid = (pid_t)syscall(SYS_gettid);
    sem_post(&ready);
    while (sem_wait(&over) < 0)
        continue;
    return unused;
}

static bool sees(void)
{
    return CHECK(jsp_unseen_waits(tid, SIGUSR1)) && CHECK(!jsp_unseen_waits(tid, SIGUSR2));
}

TEST(a_signal_that_waits_is_seen)
{
    sees();
}

/* The line of groups moves those of signals over the end of each part that is read. */
TEST(a_signal_that_waits_is_seen_in_a_status_of_any_length)
{
    static gid_t groups[60000];
    enum { N_GROUPS = sizeof groups / sizeof *groups };
    for (int i = 0; i < N_GROUPS; i++)
        groups[i] = 4000000000u; /* 11 bytes with its space */
    if (setgroups(1, groups) < 0) {
        SKIP("only root may be in many groups");
        return;
    }
    bool good = true;
    for (size_t n = 240; n < 370; n++)
        for (gid_t first = 1; good && first < 1000000000; first *= 10) {
            groups[0] = first;
            good = CHECK_EQ(setgroups(n, groups), 0) && sees();
        }
    CHECK_EQ(setgroups(N_GROUPS, groups), 0);
    sees();
    setgroups(0, NULL);
}

TEST(what_was_unseen_is_not_when_no_signal_is_under_way)
{
    static struct jsp_thread t = { .unseen.so_far = 5, .sampled.due_ns = UINT64_MAX };
    jsp_thread_look(&t);
    CHECK_EQ(t.unseen.so_far, 0);
}

int main(void)
{
    pthread_t other;
    sem_init(&ready, 0, 0);
    sem_init(&over, 0, 0);
    if (pthread_create(&other, NULL, block, NULL) != 0)
        return 1;
    while (sem_wait(&ready) < 0)
        continue;
    RUN_ALL();
    sem_post(&over);
    pthread_join(other, NULL);
    return DONE();
}
