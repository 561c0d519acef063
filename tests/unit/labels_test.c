/* labels_test.c - labels and traces of samples: what the capture says of a program that sets them,
 * and what becomes of a host's mistakes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/seen.h"

#include "analyze/samples.h"
#include "capture/wire.h"
#include "session/session.h"

/* Of so many, one may be of the moment before, and each may stand for more. */
enum { SEEN = 20 };

static struct host h;
static jsprof_thread *me;

static bool began(uint32_t flags)
{
    jsprof_options o = host_options(1000, JSPROF_CLOCK_CPU);
    o.flags |= flags;
    return host_begin_with(&h, o, &me);
}

/* Return how many samples have exactly these labels: "route=/login, tenant=7". */
static uint64_t samples_of(const char *labels)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < h.profile.n_stacks; i++) {
        const struct jsp_label_set *s = &h.profile.labels.sets[h.profile.stacks[i].labels];
        char text[4096] = "";
        for (uint32_t k = 0; k < s->n; k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s=%.*s",
                     k ? ", " : "", (int)s->pairs[k].key.len, s->pairs[k].key.at,
                     (int)s->pairs[k].value.len, s->pairs[k].value.at);
        n += strcmp(text, labels) == 0 ? h.profile.stacks[i].samples : 0;
    }
    return n;
}

static const struct jsp_account_thread *account(void)
{
    return &h.profile.account.threads[0];
}

static void levels(void)
{
    char route[] = "/login";
    jsprof_label_set(me, "tenant", "7");
    seen_burn(me, SEEN);
    uint32_t outer = jsprof_label_push(me, "route", route);
    memset(route, '#', sizeof route); /* copied */
    seen_burn(me, SEEN);
    uint32_t inner = jsprof_label_push(me, "route", "/inner");
    jsprof_label_set(me, "tenant", NULL);
    seen_burn(me, SEEN);
    jsprof_label_pop(me, inner);
    jsprof_label_set(me, "route", "/login"); /* as it is */
    seen_burn(me, SEEN);
    jsprof_label_pop(me, outer);
    jsprof_label_set(me, "tenant", "8");
    seen_burn(me, SEEN);
    jsprof_label_set(me, "tenant", NULL);
    seen_burn(me, SEEN);
}

static void check_levels(void)
{
    CHECK(samples_of("tenant=7") > 4);
    CHECK(samples_of("route=/login, tenant=7") > 8);
    CHECK(samples_of("route=/inner") > 4);
    CHECK(samples_of("tenant=8") > 4);
    CHECK(samples_of("") > 4);
    CHECK_EQ(samples_of("tenant=7") + samples_of("route=/login, tenant=7") +
                 samples_of("route=/inner") + samples_of("tenant=8") + samples_of(""),
             h.profile.samples);
    CHECK_EQ(account()->tags_unmatched, 0);
}

static void labels_in(uint32_t flags)
{
    if (!began(flags))
        return;
    levels();
    if (host_close(&h))
        check_levels();
}

TEST_OF(a_sample_has_the_labels_of_its_moment, labels_in(0))
TEST_OF(and_so_has_a_compact_one, labels_in(JSPROF_COMPACT))

/* A run has the labels of what made its task, in place of the loop's, and those of the tasks
 * before; the loop's come back after it. */
TEST(a_task_carries_its_labels_to_its_runs)
{
    if (!began(0))
        return;
    uint32_t level = jsprof_label_push(me, "route", "/a");
    jsprof_task a = jsprof_task_new(me, "test", "a", 0);
    jsprof_label_pop(me, level);
    jsprof_task none = jsprof_task_new(me, "test", "none", 0);
    jsprof_label_set(me, "loop", "1");
    jsprof_task_begin(me, a);
    seen_burn(me, SEEN);
    jsprof_label_set(me, "step", "2");
    seen_burn(me, SEEN);
    jsprof_task b = jsprof_task_new(me, "test", "b", 0);
    jsprof_task_end(me, a);
    seen_burn(me, SEEN);
    jsprof_task_begin(me, b);
    jsprof_task_begin(me, none);
    seen_burn(me, SEEN);
    jsprof_task_end(me, none);
    jsprof_label_set(me, "route", NULL);
    seen_burn(me, SEEN);
    jsprof_task_end(me, b);
    jsprof_task_begin(me, 0); /* nobody knows its maker */
    seen_burn(me, SEEN);
    jsprof_task_end(me, 0);
    if (!host_close(&h))
        return;
    CHECK(samples_of("route=/a") > 4);
    CHECK(samples_of("route=/a, step=2") > 4);
    CHECK(samples_of("step=2") > 4);
    CHECK(samples_of("loop=1") > 8);
    CHECK(samples_of("") > 4);
    CHECK_EQ(samples_of("route=/a") + samples_of("route=/a, step=2") + samples_of("step=2") +
                 samples_of("loop=1") + samples_of(""),
             h.profile.samples);
}

/* A run that is left by a jump ends with the one around it, and so do its labels. */
TEST(a_run_that_is_left_leaves_no_labels)
{
    if (!began(0))
        return;
    jsprof_task a = jsprof_task_new(me, "test", "a", 0), b = jsprof_task_new(me, "test", "b", 0);
    jsprof_task_begin(me, a);
    jsprof_label_set(me, "of", "a");
    jsprof_task_begin(me, b);
    uint32_t level = jsprof_label_push(me, "of", "b");
    jsprof_task_end(me, a);
    seen_burn(me, SEEN);
    jsprof_label_pop(me, level); /* of a level that is gone */
    if (!host_close(&h))
        return;
    CHECK_EQ(samples_of(""), h.profile.samples);
    CHECK_EQ(account()->tags_unmatched, 1);
}

/* A push inside of as many levels as there can be sets no label: it would outlive its level. */
TEST(levels_above_the_bound_have_no_labels)
{
    uint32_t outermost, above;
    if (!began(0))
        return;
    jsprof_label_set(me, "route", "/outside");
    outermost = jsprof_label_push(me, NULL, NULL);
    for (int i = 1; i < JSP_TAGS_LEVELS; i++)
        jsprof_label_push(me, NULL, NULL);
    jsprof_label_set(me, "route", "/deep");
    seen_burn(me, SEEN);
    above = jsprof_label_push(me, "route", "/above");
    CHECK_EQ(above, JSP_TAGS_LEVELS);
    seen_burn(me, SEEN);
    jsprof_label_pop(me, above);
    seen_burn(me, SEEN);
    jsprof_label_pop(me, outermost);
    seen_burn(me, SEEN);
    if (!host_close(&h))
        return;
    CHECK(samples_of("route=/deep") > 8);
    CHECK(samples_of("route=/outside") > 4);
    CHECK_EQ(samples_of("route=/deep") + samples_of("route=/outside"), h.profile.samples);
    CHECK_EQ(account()->tags_full, 1);
    CHECK_EQ(account()->tags_unmatched, 0);
}

static void *on_another_thread(void *result)
{
    *(int *)result = jsprof_label_set(me, "from", "outside");
    jsprof_label_push(me, "from", "outside");
    jsprof_label_pop(me, 0);
    return NULL;
}

TEST(mistakes_are_counted)
{
    char key[80], value[400], big[256];
    pthread_t other;
    int result = 0;
    if (!began(0))
        return;
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = 0;
    for (size_t i = 0; i < sizeof value - 2; i += 2) /* U+00E9: is not cut in two */
        memcpy(value + i, "\xC3\xA9", 2);
    value[sizeof value - 2] = 0;
    CHECK_EQ(jsprof_label_set(me, NULL, "x"), -EINVAL);
    CHECK_EQ(jsprof_label_set(me, "", "x"), -EINVAL);
    CHECK_EQ(jsprof_label_set(NULL, "a", "x"), 0);
    CHECK_EQ(jsprof_label_set(me, key, value), 0);
    seen_burn(me, SEEN);
    CHECK_EQ(jsprof_label_set(me, "bad", "a\xFF" "b\xC3"), 0);
    seen_burn(me, SEEN);
    memset(big, 'b', sizeof big - 1);
    big[sizeof big - 1] = 0;
    CHECK_EQ(jsprof_label_set(me, "1", big), 0);
    CHECK_EQ(jsprof_label_set(me, "2", big), 0);
    CHECK_EQ(jsprof_label_set(me, "3", big), -ENOSPC);
    jsprof_label_pop(me, 77);
    CHECK_EQ(pthread_create(&other, NULL, on_another_thread, &result), 0);
    pthread_join(other, NULL);
    CHECK_EQ(result, -EPERM);
    if (!host_close(&h))
        return;
    key[63] = 0;
    value[254] = 0;
    char cut[512];
    snprintf(cut, sizeof cut, "%s=%s", key, value);
    CHECK(samples_of(cut) > 4);
    snprintf(cut, sizeof cut, "bad=a\xEF\xBF\xBD" "b\xEF\xBF\xBD, %s=%s", key, value);
    CHECK(samples_of(cut) > 4);
    CHECK_EQ(account()->tags_cut, 2);
    CHECK_EQ(account()->tags_full, 1);
    CHECK_EQ(account()->tags_unmatched, 1);
    uint64_t n_bad = h.profile.account.session.tags_bad; /* sets, if a sample met them */
    CHECK(n_bad >= 1 && n_bad <= 3);
    CHECK_EQ(h.profile.account.session.tags_stray, 3);
}

/* -- Allocations ------------------------------------------------------------ */

static void allocate(int blocks)
{
    static char memory[64];
    for (int i = 0; i < blocks; i++) {
        jsprof_allocated(me, memory, sizeof memory);
        jsprof_freed(me, memory);
    }
}

/* Every block is sampled, but for one of 1e13. */
TEST(an_allocation_has_the_labels_of_its_moment)
{
    struct jsp_profile_options options = { .measure = JSP_VALUE_ALLOC };
    jsprof_options o = host_options(1000, JSPROF_CLOCK_CPU);
    o.alloc = 2;
    if (!host_begin_with(&h, o, &me))
        return;
    allocate(3);
    jsprof_label_set(me, "tenant", "7");
    uint32_t outer = jsprof_label_push(me, "route", "/login");
    jsprof_task task = jsprof_task_new(me, "test", "later", 0);
    allocate(5);
    jsprof_label_pop(me, outer);
    allocate(7);
    jsprof_label_set(me, "tenant", NULL);
    jsprof_task_begin(me, task);
    allocate(11); /* the labels under which the task was made */
    jsprof_label_set(me, "route", "/inner");
    allocate(13);
    jsprof_task_end(me, task);
    allocate(17);
    if (host_close(&h)) {
        jsp_profile_free(&h.profile);
        if (CHECK_EQ(jsp_profile_load(&h.profile, &h.read, &options), 0)) {
            CHECK_EQ(samples_of(""), 3 + 17);
            CHECK_EQ(samples_of("route=/login, tenant=7"), 5 + 11);
            CHECK_EQ(samples_of("tenant=7"), 7);
            CHECK_EQ(samples_of("route=/inner, tenant=7"), 13);
            CHECK_EQ(h.profile.samples, 56);
        }
    }
}

/* More sets than the table of those that are known holds, and more bytes than its text. */
TEST(an_allocation_has_its_labels_among_thousands)
{
    enum { SHORT = 2000, ALL = SHORT + 400 };
    static uint8_t samples[ALL];
    struct jsp_profile_options options = { .measure = JSP_VALUE_ALLOC };
    jsprof_options o = host_options(1000, JSPROF_CLOCK_CPU);
    o.alloc = 2;
    if (!host_begin_with(&h, o, &me))
        return;
    for (int i = 0; i < 2 * ALL; i++) {
        char value[254];
        snprintf(value, sizeof value, "%0*d", i % ALL < SHORT ? 4 : 250, i % ALL);
        jsprof_label_set(me, "\xEF\xBF\xBD", value); /* a character as any other */
        allocate(1);
        CHECK_EQ(i % 50 ? 0 : jsprof_flush(h.prof), 0);
    }
    if (!host_close(&h))
        return;
    jsp_profile_free(&h.profile);
    CHECK_EQ(jsp_profile_load(&h.profile, &h.read, &options), 0);
    CHECK_EQ(h.profile.samples, 2 * ALL);
    for (uint32_t i = 0; i < h.profile.n_stacks; i++) {
        const struct jsp_label_set *s = &h.profile.labels.sets[h.profile.stacks[i].labels];
        char text[254] = "";
        snprintf(text, sizeof text, "%.*s", (int)s->pairs[0].value.len, s->pairs[0].value.at);
        int value = atoi(text);
        CHECK(s->n == 1 && value < ALL && strlen(text) == (value < SHORT ? 4 : 250));
        CHECK(h.profile.stacks[i].samples + samples[value % ALL]++ <= 2);
    }
    CHECK_EQ(h.profile.account.session.tags_unwritten, 0);
    CHECK_EQ(h.profile.account.session.tags_bad, 0);
    host_free(&h);
}

/* -- Traces ----------------------------------------------------------------- */

/* Return how many samples have a trace that begins with this byte, and this label or none. */
static uint64_t samples_in(const struct jsp_profile *p, int first, bool has_label)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n_stacks; i++) {
        const struct jsp_label_set *set = &p->labels.sets[p->stacks[i].labels];
        int is = set->trace ? set->trace[0] : 0;
        n += is == first && (set->n == 1) == has_label ? p->stacks[i].samples : 0;
    }
    return n;
}

/* The host's own, a task's, and what a tracer shows by the thread-local variable of the draft
 * standard: complete, half written, and gone. */
TEST(a_sample_has_its_trace)
{
    static const uint8_t a[16] = { 0xA1, 2 }, b[16] = { 0xB1, 2 }, span[8] = { 7 };
    struct jsp_tags_shared record = { .trace = { 0xC1 }, .span = { 9 }, .valid = 1 };
    const void *volatile shared = NULL;
    struct jsp_profile traced;
    const struct jsp_profile_options options = { .has_traces = true };
    if (!began(0))
        return;
    CHECK_EQ(jsprof_trace_set(me, a, span), 0);
    seen_burn(me, SEEN);
    jsprof_task task = jsprof_task_new(me, "test", "traced", 0);
    jsprof_label_set(me, "route", "/");
    seen_burn(me, SEEN);
    jsprof_trace_set(me, b, NULL);
    seen_burn(me, SEEN);
    jsprof_trace_set(me, NULL, NULL);
    jsprof_label_set(me, "route", NULL);
    atomic_store(&((struct jsp_thread *)(void *)me)->sampled.tags.shared, &shared);
    shared = &record;
    seen_burn(me, SEEN);
    record.trace[0] = 0xE1;
    jsprof_task shown = jsprof_task_new(me, "test", "shown", 0);
    record.valid = 0;
    record.trace[0] = 0xD1;
    seen_burn(me, SEEN);
    shared = (const void *)(uintptr_t)16; /* freed memory */
    seen_burn(me, SEEN);
    jsprof_task_begin(me, task);
    seen_burn(me, SEEN);
    jsprof_task_end(me, task);
    jsprof_task_begin(me, shown);
    seen_burn(me, SEEN);
    jsprof_task_end(me, shown);
    CHECK_EQ(jsprof_flush(h.prof), 0);
    CHECK(h.prof->output.labels.last < 10); /* each is in the file once */
    if (!host_close(&h) || !CHECK_EQ(jsp_profile_load(&traced, &h.read, &options), 0))
        return;
    CHECK(samples_in(&traced, 0xA1, false) > 8);
    CHECK(samples_in(&traced, 0xA1, true) > 4);
    CHECK(samples_in(&traced, 0xB1, true) > 4);
    CHECK(samples_in(&traced, 0xC1, false) > 4);
    CHECK(samples_in(&traced, 0xE1, false) > 4);
    CHECK(samples_in(&traced, 0, false) > 8);
    CHECK_EQ(samples_in(&traced, 0xA1, false) + samples_in(&traced, 0xA1, true) +
                 samples_in(&traced, 0xB1, true) + samples_in(&traced, 0xC1, false) +
                 samples_in(&traced, 0xE1, false) +
                 samples_in(&traced, 0, false), traced.samples);
    CHECK_EQ(h.profile.labels.n_sets, 2); /* without traces */
    jsp_profile_free(&traced);
}

/* -- Torn reads ------------------------------------------------------------- */

enum { TORN_VALUES = 26, TORN_LONG = 240, TORN_SAMPLES = 1000 };
static char values[TORN_VALUES][TORN_LONG + 1];

/* One letter each, of several lengths. */
static void make_values(void)
{
    for (int i = 0; i < TORN_VALUES; i++)
        memset(values[i], 'a' + i, (size_t)(TORN_LONG - i));
}

static bool is_of_one_letter(struct jsp_read_text value)
{
    for (uint32_t i = 1; i < value.len; i++)
        if (value.at[i] != value.at[0])
            return false;
    return value.len && value.len == (uint32_t)(TORN_LONG - (value.at[0] - 'a'));
}

/* The host does nothing but change labels, so nearly every sample interrupts a change. */
TEST(no_sample_has_half_of_a_change)
{
    jsprof_options o = host_options(10000, JSPROF_CLOCK_WALL);
    o.flags |= JSPROF_NO_NATIVE; /* more samples */
    if (!host_begin_with(&h, o, &me))
        return;
    make_values();
    for (unsigned i = 0; i % 1000 || host_taken(&h) < TORN_SAMPLES; i++) {
        jsprof_label_set(me, "first", values[i % TORN_VALUES]);
        jsprof_label_set(me, "second", values[i % TORN_VALUES]);
        uint32_t level = jsprof_label_push(me, "second", values[(i + 1) % TORN_VALUES]);
        jsprof_label_pop(me, level);
    }
    if (!host_close(&h))
        return;
    for (uint32_t set = 1; set < h.profile.labels.n_sets; set++) {
        const struct jsp_label_set *s = &h.profile.labels.sets[set];
        for (uint32_t i = 0; i < s->n; i++)
            CHECK(is_of_one_letter(s->pairs[i].value));
        CHECK(s->n == 1 || (s->n == 2 && jsp_read_is(s->pairs[0].key, "first") &&
                            jsp_read_is(s->pairs[1].key, "second")));
    }
    CHECK(h.profile.labels.n_sets > TORN_VALUES);
}

TEST_MAIN()
