/* marks_test.c - jsprof_mark, jsprof_counter: the capture has the host's marks and values.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/events.h"
#include "jsprof.h"
#include "test.h"

static char path[] = "/tmp/marks_test.XXXXXX";
static jsprof *prof;
static struct jsp_read r;
static struct jsp_profile p;
static struct jsp_events e;

static bool opened(void)
{
    jsprof_options o = { .size = sizeof o, .path = path };
    jsp_events_free(&e);
    jsp_profile_free(&p);
    jsp_read_close(&r);
    return CHECK_EQ(jsprof_open(&prof, &o), 0);
}

static bool closed(void)
{
    char why[JSP_READ_WHY];
    return CHECK_EQ(jsprof_close(prof), 0) && CHECK_EQ(jsp_read_open(&r, path, why), 0) &&
           CHECK_EQ(jsp_profile_load(&p, &r, NULL), 0) &&
           CHECK_EQ(jsp_events_read(&e, &p, (struct jsp_events_of){ 0 }), 0);
}

static bool is(struct jsp_read_text t, const char *text)
{
    return t.len == strlen(text) && memcmp(t.at, text, t.len) == 0;
}

static uint64_t marks_lost(void)
{
    jsprof_stats s = { .size = sizeof s };
    CHECK_EQ(jsprof_stats_get(prof, &s), 0);
    return s.marks_lost;
}

TEST(a_mark_keeps_its_time_and_its_texts)
{
    uint64_t begin = jsprof_now();
    if (!opened())
        return;
    CHECK_EQ(jsprof_mark(prof, begin, "gc", "sweep", "reason: too much"), 0);
    CHECK_EQ(jsprof_mark(prof, 0, "app", "a name that is much longer than forty bytes are",
                         NULL),
             0);
    uint64_t end = jsprof_now();
    if (!closed())
        return;
    CHECK_EQ(e.n_marks, 2);
    CHECK_EQ(e.marks[0].time, (int64_t)begin);
    CHECK(e.marks[0].duration > 0 && e.marks[0].duration <= (int64_t)(end - begin));
    CHECK(is(e.marks[0].group, "gc") && is(e.marks[0].name, "sweep"));
    CHECK(is(e.marks[0].message, "reason: too much"));
    CHECK_EQ(e.marks[1].duration, 0);
    CHECK(is(e.marks[1].name, "a name that is much longer than forty b"));
    CHECK_EQ(e.marks[1].pid, getpid());
}

TEST(a_message_is_kept_up_to_4095_bytes)
{
    static char text[5000];
    static const size_t lengths[] = { 4094, 4095, 4096, 4999 };
    memset(text, 'x', sizeof text);
    if (!opened())
        return;
    for (int i = 0; i < 4; i++) {
        text[lengths[i]] = 0;
        CHECK_EQ(jsprof_mark(prof, 0, "g", "n", text), 0);
        text[lengths[i]] = 'x';
    }
    if (!closed())
        return;
    for (uint32_t i = 0; i < 4 && i < e.n_marks; i++)
        CHECK_EQ(e.marks[i].message.len, i ? 4095 : 4094);
    CHECK_EQ(e.n_marks, 4);
}

TEST(a_counter_is_written_when_it_changes)
{
    if (!opened())
        return;
    int heap = jsprof_counter(prof, "gc", "heap", "bytes", JSPROF_COUNTER_WHOLE);
    int load = jsprof_counter(prof, "app", "load", NULL, JSPROF_COUNTER_REAL);
    CHECK(heap > 0 && load > 0 && heap != load);
    CHECK_EQ(jsprof_counter(prof, "gc", "heap", NULL, JSPROF_COUNTER_WHOLE), heap);
    CHECK_EQ(jsprof_counter(prof, "gc", "heap", NULL, JSPROF_COUNTER_REAL), -EEXIST);
    CHECK_EQ(jsprof_counter_set(prof, heap, 1000), 0);
    CHECK_EQ(jsprof_counter_set(prof, heap, 1000), 0);
    CHECK_EQ(jsprof_counter_set(prof, heap, -5), 0);
    CHECK_EQ(jsprof_counter_set_real(prof, load, 0.25), 0);
    CHECK_EQ(jsprof_counter_set_real(prof, heap, 1e300), 0);
    CHECK_EQ(jsprof_counter_set(prof, 77, 1), -ENOENT);
    CHECK_EQ(jsprof_counter_set(prof, 0, 1), -ENOENT);
    if (!closed())
        return;
    CHECK_EQ(e.n_counters, 2);
    CHECK(is(e.counters[0].name, "heap") && is(e.counters[0].what, "bytes"));
    CHECK(!e.counters[0].is_real && e.counters[1].is_real);
    CHECK_EQ(e.counters[0].n_values, 3);
    CHECK_EQ(e.n_values, 4);
    CHECK(e.values[0].value == 1000 && e.values[1].value == -5);
    CHECK(e.values[2].value == 0.25);
    CHECK(e.values[3].value > 9e18);
}

enum { MANY = 20000 };

static void *marker(void *unused)
{
    for (int i = 0; i < MANY; i++)
        jsprof_mark(prof, 0, "many", "mark", unused);
    return NULL;
}

TEST(what_two_threads_mark_is_there_or_counted)
{
    pthread_t threads[2];
    if (!opened() || !CHECK_EQ(jsprof_start(prof), 0))
        return;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, marker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    uint64_t lost = marks_lost();
    if (!closed())
        return;
    CHECK(lost > 0 || e.n_marks == 2 * MANY); /* the queue takes about 10000 at once */
    CHECK_EQ(e.n_marks + lost, 2 * MANY);
}

TEST(without_a_drain_the_queue_fills_and_says_so)
{
    if (!opened())
        return;
    int n = 0;
    while (n < 1000000 && jsprof_mark(prof, 0, "g", "n", NULL) == 0)
        n++;
    CHECK_EQ(n, (1 << 20) / 104);
    CHECK_EQ(jsprof_mark(prof, 0, "g", "n", NULL), -ENOBUFS);
    CHECK_EQ(marks_lost(), 2);
    if (!closed())
        return;
    CHECK_EQ(e.n_marks, (uint32_t)n);
    CHECK_EQ(p.account.session.marks_lost, 2);
}

/* -- A file that takes nothing for a while ------------------------------------- */

TEST(a_log_keeps_its_severity_and_its_texts)
{
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_read_pair pair;
    char longer[5000];
    uint32_t n = 0;
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    if (!opened())
        return;
    CHECK_EQ(jsprof_log(prof, 16, "Gtk", "careful"), 0);
    CHECK_EQ(jsprof_log(prof, 128, NULL, longer), 0);
    CHECK_EQ(jsprof_log(prof, 128, "Gtk", NULL), -EINVAL);
    CHECK_EQ(jsprof_log(NULL, 128, "Gtk", "m"), -EINVAL);
    if (!closed())
        return;
    jsp_read_start(&c, &r, NULL);
    while (jsp_read_next(&c, &f)) {
        if (f.type != JSP_WIRE_LOG || !CHECK(jsp_read_pair(&c, &f, &pair)))
            continue;
        CHECK_EQ(jsp_read_u16(&r, f.at + 24), n ? 128 : 16);
        CHECK_EQ(pair.key.len, n ? 0 : 3);
        CHECK_EQ(pair.value.len, n ? 4095 : 7);
        n++;
    }
    CHECK_EQ(n, 2);
}

TEST(wrong_arguments_and_a_forked_child_are_refused)
{
    if (!opened())
        return;
    CHECK_EQ(jsprof_mark(NULL, 0, "g", "n", NULL), -EINVAL);
    CHECK_EQ(jsprof_mark(prof, 0, NULL, "n", NULL), -EINVAL);
    CHECK_EQ(jsprof_counter(prof, "g", NULL, NULL, JSPROF_COUNTER_WHOLE), -EINVAL);
    pid_t child = fork();
    if (child == 0)
        _exit(jsprof_mark(prof, 0, "g", "n", NULL) == -ECHILD &&
                      jsprof_counter_set(prof, 1, 1) == -ECHILD
                  ? 0
                  : 1);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    if (!closed())
        return;
    CHECK_EQ(e.n_marks, 0);
}

int main(void)
{
    close(mkstemp(path));
    RUN_ALL();
    unlink(path);
    return DONE();
}
