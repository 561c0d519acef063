/* asleep_test.c - src/session/sleeper.c, src/sigsafe/vmstack.c: the frames of hosts with arrays and
 * walkers of their own, of threads that sleep; nothing wakes them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "looker.h"

enum { NAPS = 400, NAP_NS = 700000, NAP_CHANCE = 8, LOOKS = 10000,
       NAP_SEEN = 5 /* where the looker seldom gets a processor */ };

/* Return how many looks came to this. */
static uint32_t looks(const struct host *h, const char *what)
{
    const char *at = strstr(h->profile.looks, what);
    while (at && at > h->profile.looks && at[-1] != ',')
        at--;
    return at ? (uint32_t)atoi(at) : UINT32_MAX;
}

static uint32_t naps(void)
{
    const struct timespec nap = { 0, NAP_NS };
    uint32_t n_cut = 0;
    for (int i = 0; i < NAPS; i++)
        n_cut += nanosleep(&nap, NULL) < 0 && errno == EINTR;
    return n_cut;
}

static void slept_well(struct host *h, uint32_t n_cut, uint64_t periods, const char *label)
{
    host_check(h);
    printf("# %u of %d interrupted, %llu periods, %llu of %s\n# %s\n", n_cut, NAPS,
           (unsigned long long)periods, (unsigned long long)host_weight(h, label), label,
           h->profile.looks);
    CHECK_EQ(looks(h, "with frames of the host"), 0);
    CHECK(looks(h, "walked") > NAP_SEEN);
    CHECK(n_cut <= NAP_CHANCE + periods / LOOKS);
    CHECK(host_weight(h, label) > periods / 2);
}

/* -- Arrays ------------------------------------------------------------------- */

struct entry {
    const char *label;
    void *sp;
    uint64_t pc;
    uint32_t line;
};

static struct entry entries[2] = { { "the host's outer", NULL, 1, 7 },
                                   { "the host's inner", NULL, 2, 9 } };
static struct entry *first_entry = entries;
static uint32_t depth = 2;

static struct coroutine {
    uint32_t depth;
    struct entry *entries;
    struct coroutine *resumer;
} outer = { 1, entries, NULL }, inner = { 1, entries + 1, &outer }, *running = &inner;

static jsprof_stack by_offsets(void)
{
    return (jsprof_stack){
        .size = sizeof(jsprof_stack), .depth_bytes = 4, .stride = sizeof(struct entry),
        .label_offset = offsetof(struct entry, label), .detail_offset = JSPROF_NO_FIELD,
        .sp_offset = offsetof(struct entry, sp), .line_offset = offsetof(struct entry, line),
        .pc_offset = offsetof(struct entry, pc),
    };
}

static void sleeps_with(const jsprof_stack *stack)
{
    struct host h;
    jsprof_thread *me;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me) ||
        !CHECK_EQ(jsprof_thread_set_stack(me, stack), 0))
        return;
    uint64_t began = host_ns(CLOCK_MONOTONIC);
    uint32_t n_cut = naps();
    uint64_t periods = (host_ns(CLOCK_MONOTONIC) - began) / 1000000;
    if (host_close(&h)) {
        slept_well(&h, n_cut, periods, "the host's inner");
        CHECK(host_weight(&h, "the host's outer") > periods / 2);
    }
    host_free(&h);
}

TEST(sleeper_with_an_array_of_its_own_is_not_woken)
{
    jsprof_stack stack = by_offsets();
    stack.depth = &depth;
    stack.entries = &first_entry;
    sleeps_with(&stack);
}

TEST(sleeper_in_a_coroutine_with_an_array_is_not_woken)
{
    jsprof_stack stack = by_offsets();
    stack.context = &running;
    stack.depth_at = offsetof(struct coroutine, depth);
    stack.entries_at = offsetof(struct coroutine, entries);
    stack.resumer_at = offsetof(struct coroutine, resumer);
    stack.end_at = stack.capacity_at = JSPROF_NO_FIELD;
    sleeps_with(&stack);
}

/* -- Walkers ------------------------------------------------------------------- */

enum { SEAL = 0x5EA1ED };

struct walked {
    uint32_t seal;
    const char *name;
    _Atomic uint32_t n_begun, n, n_wrong, n_plain; /* calls */
    bool declines;
};

static uint32_t walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    const struct walked *w = host;
    (void)ucontext;
    if (max)
        out[0] = (jsprof_frame){ .label = w->name };
    return 1;
}

/* Called by the looker: it copies the name as it would that of a thread that may free it. */
static uint32_t walk_asleep(void *host, const jsprof_asleep *at, jsprof_frame *out, uint32_t max)
{
    struct walked *w = host;
    char *name = jsprof_scratch(at->reader, 16);
    uint64_t word;
    host_count(&w->n);
    atomic_fetch_add(&w->n_plain, at->plain_end == 0);
    bool is_right = w->seal == SEAL && max && name && at->size == sizeof *at && at->pc &&
                    jsprof_read(at->reader, name, w->name, 16) &&
                    jsprof_read(at->reader, &word, (const void *)at->sp, sizeof word) &&
                    !jsprof_read(at->reader, &word, (const void *)64, sizeof word);
    atomic_fetch_add(&w->n_wrong, !is_right);
    if (w->declines || !is_right)
        return JSPROF_DECLINED;
    out[0] = (jsprof_frame){ .label = name };
    return 1;
}

static void walks(bool declines)
{
    static char name[16] = "a walked name";
    struct walked w = { .seal = SEAL, .name = name, .declines = declines };
    struct host h;
    jsprof_thread *me;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me) ||
        !CHECK_EQ(jsprof_thread_set_walker(me, walk_sigsafe, &w), 0) ||
        !CHECK_EQ(jsprof_thread_set_asleep_walker(me, walk_asleep, &w), 0))
        return;
    uint64_t began = host_ns(CLOCK_MONOTONIC);
    uint32_t n_cut = naps();
    uint64_t periods = (host_ns(CLOCK_MONOTONIC) - began) / 1000000;
    CHECK_EQ(jsprof_thread_set_asleep_walker(me, NULL, NULL), 0);
    CHECK_EQ(jsprof_thread_set_walker(me, NULL, NULL), 0);
    CHECK(host_counted(&w.n) > NAP_SEEN);
    CHECK(host_counted(&w.n_plain) > NAP_SEEN);
    CHECK_EQ(host_counted(&w.n_wrong), 0);
    if (host_close(&h) && !declines) {
        slept_well(&h, n_cut, periods, name);
    } else if (declines) {
        host_check(&h);
        CHECK(looks(&h, "with frames of the host") > NAP_SEEN);
        CHECK(host_weight(&h, name) > periods / 2);
    }
    host_free(&h);
}

TEST(walker_of_a_sleeper_has_its_frames)
{
    walks(false);
}

TEST(walker_that_declines_leaves_them_to_the_handler)
{
    walks(true);
}

/* A walker of the handler alone: a sleeper is sampled by signals. */
TEST(walker_for_no_sleeper_is_not_called_by_another_thread)
{
    static char name[16] = "a walked name";
    struct walked w = { .seal = SEAL, .name = name };
    struct host h;
    jsprof_thread *me;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me) ||
        !CHECK_EQ(jsprof_thread_set_walker(me, walk_sigsafe, &w), 0))
        return;
    naps();
    CHECK_EQ(jsprof_thread_set_walker(me, NULL, NULL), 0);
    if (host_close(&h))
        CHECK(looks(&h, "with frames of the host") > NAP_SEEN);
    host_free(&h);
}

/* Half a millisecond, so that the thread often wakes up meanwhile. */
static uint32_t walk_slowly(void *host, const jsprof_asleep *at, jsprof_frame *out, uint32_t max)
{
    struct walked *w = host;
    host_count(&w->n_begun);
    uint64_t until = host_ns(CLOCK_MONOTONIC) + 500000;
    while (host_ns(CLOCK_MONOTONIC) < until)
        continue;
    return walk_asleep(host, at, out, max);
}

/* Its host frees what it reads as soon as the walker is gone. */
TEST(walker_is_gone_when_the_call_that_removes_it_returns)
{
    static char name[16] = "a walked name";
    const struct timespec nap = { 0, NAP_NS };
    struct host h;
    jsprof_thread *me;
    uint32_t n = 0, n_wrong = 0, n_inside = 0;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me))
        return;
    for (int i = 0; i < NAPS; i++) {
        struct walked *w = malloc(sizeof *w);
        *w = (struct walked){ .seal = SEAL, .name = name };
        CHECK_EQ(jsprof_thread_set_asleep_walker(me, walk_slowly, w), 0);
        nanosleep(&nap, NULL);
        CHECK_EQ(jsprof_thread_set_asleep_walker(me, NULL, NULL), 0);
        n_inside += host_counted(&w->n_begun) != host_counted(&w->n);
        n += host_counted(&w->n);
        n_wrong += host_counted(&w->n_wrong);
        free(w);
    }
    printf("# %u calls\n", n);
    CHECK(n > NAP_SEEN);
    CHECK_EQ(n_inside, 0);
    CHECK_EQ(n_wrong, 0);
    if (host_close(&h))
        host_check(&h);
    host_free(&h);
}

static void *sets_that_of_another(void *thread)
{
    CHECK_EQ(jsprof_thread_set_asleep_walker(thread, NULL, NULL), -EPERM);
    CHECK_EQ(jsprof_thread_set_asleep_walker(NULL, walk_asleep, NULL), -EINVAL);
    return NULL;
}

TEST(walker_of_a_sleeper_is_set_by_its_thread)
{
    struct host h;
    jsprof_thread *me;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me))
        return;
    pthread_join(host_thread(sets_that_of_another, me), NULL);
    host_close(&h);
    host_free(&h);
}

int main(void)
{
    RUN(sleeper_with_an_array_of_its_own_is_not_woken);
    RUN(sleeper_in_a_coroutine_with_an_array_is_not_woken);
    RUN(walker_of_a_sleeper_has_its_frames);
    RUN(walker_that_declines_leaves_them_to_the_handler);
    RUN(walker_for_no_sleeper_is_not_called_by_another_thread);
    RUN(walker_is_gone_when_the_call_that_removes_it_returns);
    RUN(walker_of_a_sleeper_is_set_by_its_thread);
    return DONE();
}
