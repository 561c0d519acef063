/* unit/jitrows_test.c - src/sigsafe/jitrows.c: code comes and goes while another thread,
 * and a signal on the very thread that changes it, look it up. An answer is either
 * "unknown" or right.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "session/code.h"

#include "test.h"

enum { PLACES = 600, EVERY = 64, LENGTH = 48, ROUNDS = 60 };

static struct jsp_codes codes;
static _Atomic bool over;
static _Atomic uint64_t n_found, n_wrong, n_signals, n_in_signal;
static pthread_t changer;

/* Place k has label k, whose one row is k; a gap follows each. */
static void look(uint64_t at, _Atomic uint64_t *found)
{
    uint64_t place = at / EVERY;
    bool in_gap = at % EVERY >= LENGTH;
    uint32_t label = 0;
    jsprof_code_row row = { 0 };
    if (jsp_jitrows_label(&codes.handler, at, &label)) {
        atomic_fetch_add(found, 1);
        if (label != place || in_gap)
            atomic_fetch_add(&n_wrong, 1);
    }
    enum jsp_jitrows_answer is = jsp_jitrows_find(&codes.handler, at, &row);
    bool wrong_row = is == JSP_JITROWS_ROW && (row.cfa != (int32_t)place || in_gap);
    if (is == JSP_JITROWS_POINTER || wrong_row)
        atomic_fetch_add(&n_wrong, 1);
}

static void on_signal(int sig)
{
    static uint64_t at;
    (void)sig;
    atomic_fetch_add(&n_signals, 1);
    for (int i = 0; i < 8; i++)
        look(at = (at + 40503) % (PLACES * EVERY), &n_in_signal);
}

static void *reader(void *arg)
{
    uint64_t at = 0;
    for (uint32_t n = 0; !atomic_load(&over); n++) {
        look(at = (at + 40503) % (PLACES * EVERY), &n_found);
        if (n % 64 == 0)
            pthread_kill(changer, SIGUSR1);
    }
    return arg;
}

/* Fill up, so that the array grows under the readers, and empty again. */
static void change(uint64_t place, bool is_there)
{
    jsprof_code_row row = { .cfa = (int32_t)place, .ra_at = -8 };
    struct jsp_code_def def = { .start = place * EVERY, .length = LENGTH,
                                .label = (uint32_t)place, .rows = &row, .n_rows = 1 };
    if (is_there)
        CHECK_EQ(jsp_codes_remove(&codes, def.start, 1), 0);
    else
        CHECK_EQ(jsp_codes_add(&codes, &def, 1), 0);
}

/* On a busy machine the two may not run at once for many rounds. */
static bool has_met(void)
{
    return atomic_load(&n_found) > 100 && atomic_load(&n_in_signal) > 0;
}

TEST(look_up_while_code_comes_and_goes_is_unknown_or_right)
{
    struct sigaction act = { .sa_handler = on_signal };
    pthread_t thread;
    uint32_t rounds = 0;
    changer = pthread_self();
    sigaction(SIGUSR1, &act, NULL);
    for (; rounds < ROUNDS || !has_met(); rounds++) {
        jsp_codes_init(&codes);
        atomic_store(&over, false);
        if (!CHECK_EQ(pthread_create(&thread, NULL, reader, NULL), 0))
            return;
        for (uint64_t i = 0; i < PLACES; i++)
            change(i * 7 % PLACES, false);
        for (uint64_t i = 0; i < PLACES; i++)
            change(i * 11 % PLACES, true);
        atomic_store(&over, true);
        pthread_join(thread, NULL);
        jsp_codes_free(&codes);
    }
    CHECK_EQ(atomic_load(&n_wrong), 0);
    printf("# %u rounds, %llu found, %llu in %llu signals\n", rounds,
           (unsigned long long)atomic_load(&n_found),
           (unsigned long long)atomic_load(&n_in_signal),
           (unsigned long long)atomic_load(&n_signals));
}

TEST(code_that_stays_is_always_found_when_nobody_changes_it)
{
    uint32_t label = 0;
    jsp_codes_init(&codes);
    CHECK(!jsp_jitrows_label(&codes.handler, 5, &label)); /* before the first */
    for (uint64_t i = 0; i < PLACES; i++)
        change(i, false);
    for (uint64_t i = 0; i < PLACES * EVERY; i++) {
        bool found = jsp_jitrows_label(&codes.handler, i, &label);
        CHECK(found == (i % EVERY < LENGTH) && (!found || label == i / EVERY));
    }
    jsp_codes_free(&codes);
}

TEST_MAIN()
