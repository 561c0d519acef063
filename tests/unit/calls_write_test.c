/* unit/calls_write_test.c - src/calls/rows.c: what a failed flush keeps out of the capture, a
 * later one writes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/exact.h"
#include "session/session.h"
#include "test.h"

enum { FUNCTIONS = 100, NAME = 900, FLUSHES_MOST = 64 };

static jsprof *prof;
static jsprof_thread *me;
static jsprof_function *functions[FUNCTIONS];
static int fd;
static int flushes, fails_at; /* the flush of this number, from 0 */

/* The buffer stays as full as it is: so each chunk of calls asks for a flush. */
static int refusing_flush(struct jsp_output *out)
{
    (void)out;
    return flushes++ == fails_at ? -ENOSPC : 0;
}

static int snapshot_flush(struct jsp_output *out)
{
    jsprof_calls calls = { .size = sizeof calls };
    (void)out;
    flushes++;
    CHECK_EQ(jsprof_calls_snapshot(prof, &calls), 0);
    CHECK_EQ(calls.calls, 2 * FUNCTIONS * FUNCTIONS);
    jsprof_calls_free(&calls);
    return 0;
}

static void fill_buffer(void)
{
    static char value[3000];
    memset(value, 'x', sizeof value - 1);
    while (!jsp_output_is_full(&prof->output))
        jsp_writer_metadata(&prof->output.writer, "filler", value);
}

static bool begin(void)
{
    jsprof_options options = { .size = sizeof options, .flags = JSPROF_USE_FD };
    char name[NAME + 1];
    options.fd = fd = memfd_create("capture", MFD_CLOEXEC);
    if (!CHECK_EQ(jsprof_open(&prof, &options), 0))
        return false;
    CHECK_EQ(jsprof_thread_attach(prof, "main", &me), 0);
    memset(name, 'f', NAME);
    name[NAME] = 0;
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        jsprof_function_new(&functions[i], name, "f.c", i + 1, JSPROF_KIND_VM);
    return CHECK_EQ(jsprof_calls_set(prof, JSPROF_CALLS_COUNT | JSPROF_CALLS_EDGES), 0);
}

/* Each function calls each one once. */
static void call_all(void)
{
    for (int i = 0; i < FUNCTIONS; i++)
        for (int k = 0; k < FUNCTIONS; k++) {
            jsprof_enter(me, functions[i]);
            jsprof_enter(me, functions[k]);
            jsprof_leave(me);
            jsprof_leave(me);
        }
}

static void compare(const struct jsp_exact *exact)
{
    uint32_t n_functions = 0, n_edges = 0;
    for (uint32_t i = 0; i < exact->n_functions; i++)
        n_functions += exact->functions[i].cost.calls == 2 * FUNCTIONS;
    for (uint32_t i = 0; i < exact->n_edges; i++)
        n_edges += exact->edges[i].cost.calls == 1;
    CHECK_EQ(n_functions, FUNCTIONS);
    CHECK_EQ(n_edges, FUNCTIONS * FUNCTIONS);
    CHECK_EQ(exact->commit[JSP_WIRE_COMMIT_CALLS], 2 * FUNCTIONS * FUNCTIONS);
}

static void compare_file(void)
{
    struct jsp_exact exact;
    struct jsp_read r;
    char path[64], why[JSP_READ_WHY];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!CHECK_EQ(jsp_read_open(&r, path, why), 0))
        return;
    if (CHECK_EQ(jsp_exact_read(&exact, &r, NULL), 0))
        compare(&exact);
    jsp_exact_free(&exact);
    jsp_read_close(&r);
}

static void end(void)
{
    CHECK_EQ(jsprof_thread_detach(me), 0);
    CHECK_EQ(jsprof_close(prof), 0);
    compare_file();
    close(fd);
    for (int i = 0; i < FUNCTIONS; i++)
        jsprof_function_free(functions[i]);
}

/* False: no flush had this number. */
static bool fail_at(int number)
{
    if (!begin())
        return false;
    call_all();
    fill_buffer();
    flushes = 0;
    fails_at = number;
    int err = jsp_calls_write(&prof->calls, &prof->output, refusing_flush);
    CHECK_EQ(err, flushes > number ? -ENOSPC : 0);
    end();
    return flushes > number;
}

TEST(row_or_edge_at_which_a_flush_failed_is_written_by_the_next)
{
    int n = 0;
    while (n < FLUSHES_MOST && fail_at(n))
        n++;
    CHECK(n >= 4 && n < FLUSHES_MOST); /* of functions and of edges */
}

/* Another thread may ask while the file is written: the lock is free then. */
TEST(snapshot_during_a_flush_changes_nothing_of_what_is_written)
{
    if (!begin())
        return;
    call_all();
    fill_buffer();
    flushes = 0;
    CHECK_EQ(jsp_calls_write(&prof->calls, &prof->output, snapshot_flush), 0);
    CHECK(flushes >= 4);
    CHECK_EQ(jsp_output_flush(&prof->output), 0);
    compare_file();
    end();
}

TEST_MAIN()
