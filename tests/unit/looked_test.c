/* looked_test.c - src/session/{looker,looked}.c: the expirations of threads that live for a moment.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/looker.h"
#include "test.h"

/* Periods that the sum may be off: what may be left, and the points of a tick. */
enum { LIVES = 40000, LIVES_OFF = 8 + 4 + 1, LIVES_TICK = 4, LIVES_GONE = 1 << 22 };

static struct jsp_looker l;
static uint64_t random_state = 88172645463325252u;

/* Return a random number below 1, in JSP_LOOKER_WHOLEths. */
static int64_t draw(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int64_t)(random_state >> 40) % JSP_LOOKER_WHOLE;
}

static struct jsp_looked life_new(struct jsp_sampled *sampled, _Atomic uint32_t *news)
{
    /* the clock of a thread that is gone, so that no time passes but ours */
    return (struct jsp_looked){ .sampled = sampled, .news = news,
                                .cpu_clock = (clockid_t)(~(unsigned)LIVES_GONE << 3 | 6) };
}

/* A look meets the thread by the chance of its time. Return its expirations. */
static uint64_t life_by_look(struct jsp_looked *t, int64_t time)
{
    t->balance += time;
    return draw() < time ? jsp_looker_repay(&l, jsp_looker_meet(&l, t)) : 0;
}

/* A tick, which is one of 4 periods, meets it anywhere, or not. It counts for the rest of them. */
static uint64_t life_by_tick(struct jsp_looked *t, int64_t time)
{
    int64_t at = LIVES_TICK * draw();
    t->balance += time;
    if (at >= time)
        return 0;
    uint64_t ran_ns = l.period_ns * (uint64_t)at / JSP_LOOKER_WHOLE;
    return jsp_looker_repay(&l, jsp_looker_tick(&l, t, 1, ran_ns));
}

/* Return how many expirations too many, or too few, the threads had. */
static int64_t lives_are_off(uint64_t (*life)(struct jsp_looked *t, int64_t time))
{
    static struct jsp_sampled sampled;
    _Atomic uint32_t news = 0;
    int64_t time = 0, most = 0;
    uint64_t n = 0;
    l = (struct jsp_looker){ .period_ns = 1000000, .tick_ns = LIVES_TICK * 1000000, .random = 7 };
    jsp_looker_open(&l);
    for (int i = 0; i < LIVES; i++) {
        struct jsp_looked t = life_new(&sampled, &news);
        int64_t own = draw();
        jsp_looker_add(&l, &t);
        time += own;
        n += life(&t, own);
        n += jsp_looker_remove(&l, &t);
        int64_t off = (int64_t)n - time / JSP_LOOKER_WHOLE;
        if (off > most || off < -most)
            most = off < 0 ? -off : off;
    }
    printf("# %llu expirations in %lld periods, %lld off at most\n", (unsigned long long)n,
           (long long)(time / JSP_LOOKER_WHOLE), (long long)most);
    return most;
}

TEST(threads_that_a_look_or_a_tick_meets_have_as_many_expirations_as_their_time)
{
    CHECK(lives_are_off(life_by_look) <= LIVES_OFF);
    CHECK(lives_are_off(life_by_tick) <= LIVES_OFF);
}

TEST_MAIN()
