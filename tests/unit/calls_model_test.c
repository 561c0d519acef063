/* unit/calls_model_test.c - src/calls against the plain model of
 * calls_model.h: random trees of calls in every form that a host may use, every cell
 * compared after each tree.
 *
 * The test itself advances the time. LONG=1 runs a hundred times as many trees.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/exact.h"
#include "calls_model_host.h"
#include "test.h"

enum {
    TREES = 150000, LONG_TIMES = 100, STEPS = 24, SNAPSHOT_EACH = 5000, OWN_MAX = 40,
};

static int fd, wrong;
static const struct jsp_calls *table; /* of `me` */

static void expect(uint64_t got, uint64_t want, const char *what, uint32_t a, uint32_t b)
{
    if (got == want || wrong++ > 4)
        return;
    printf("# %s of %u, %u is %lld, not %lld\n", what, a, b, (long long)got, (long long)want);
}

static void expect_cell(const struct jsp_calls_cell *got, const struct model_cell *want,
                        uint32_t a, uint32_t b)
{
    expect(got->calls, want->calls, "calls", a, b);
    expect((uint64_t)got->total, (uint64_t)want->total, "total", a, b);
    if (b)
        return;
    expect((uint64_t)got->self, (uint64_t)want->self, "self", a, b);
    expect(got->self_bytes, want->self_bytes, "self bytes", a, b);
    expect(got->total_bytes, want->total_bytes, "total bytes", a, b);
}

/* Every cell of the table, also in the middle of a tree. */
static void compare(void)
{
    struct jsp_calls_horizon h = jsp_calls_horizon(table);
    struct jsp_calls_cell cell;
    uint32_t n_edges = jsp_calls_n_edges(table), n_want = 1;
    for (uint32_t i = 0; i < MODEL_IDS; i++) {
        jsp_calls_read_function(table, i, &h, &cell);
        expect_cell(&cell, &model.rows[i], i, 0);
        for (uint32_t k = 0; k < MODEL_IDS; k++)
            n_want += model.edges[i][k].calls > 0;
    }
    for (uint32_t i = 1; i < n_edges; i++) {
        const struct jsp_calls_edge *e = &table->edges[i];
        jsp_calls_read_edge(table, i, &h, &cell);
        expect_cell(&cell, &model.edges[e->caller][e->callee], e->caller, e->callee);
    }
    jsp_calls_read_gc(table, &h, &cell);
    expect((uint64_t)cell.total, model.gc, "gc", 0, 0);
    expect(n_edges, n_want, "number of edges", 0, 0);
    expect(jsp_calls_own(table), model.own, "own cost", 0, 0);
    expect(jsp_counted(&table->underflows), model.underflows, "underflows", 0, 0);
    expect(jsp_counted(&table->clock_back), model.clock_back, "clock back", 0, 0);
}

static int64_t shown(int64_t ticks)
{
    return ticks > 0 ? ticks : 0;
}

/* The same by the public function. */
static void compare_snapshot(void)
{
    jsprof_calls calls = { .size = sizeof calls };
    CHECK_EQ(jsprof_calls_snapshot(prof, &calls), 0);
    int64_t inside = 0;
    for (size_t i = 0; i < calls.n_rows; i++) {
        const jsprof_calls_row *r = &calls.rows[i];
        expect(r->calls, model.rows[r->id].calls, "shown calls", r->id, 0);
        expect(r->self_ns, (uint64_t)shown(model.rows[r->id].self), "shown self", r->id, 0);
        inside += (int64_t)r->self_ns;
    }
    for (size_t i = 0; i < calls.n_edges; i++) {
        const jsprof_calls_edge *e = &calls.edges[i];
        expect(e->calls, model.edges[e->caller][e->callee].calls, "shown edge", e->caller,
               e->callee);
    }
    expect(calls.inside_ns + calls.negative_ns, (uint64_t)inside, "inside", 0, 0);
    jsprof_calls_free(&calls);
}

/* Do a tree of random events and compare. Open calls have run until now, although the last
 * event was earlier. */
static void tree(uint64_t n)
{
    static struct model before;
    for (int i = 0; i < STEPS; i++)
        host_step();
    if (!below(8)) /* otherwise open calls stay open for a few trees */
        host_finish();
    now_ticks += below(100);
    before = model;
    int64_t passed = model_passed(&model, now_ticks);
    if (model.modes & MODEL_TIME && passed > 0)
        model_pass(&model, passed, 0);
    compare();
    if (n % SNAPSHOT_EACH == 0)
        compare_snapshot();
    model = before;
}

static bool begin(void)
{
    jsprof_options options = { .size = sizeof options, .flags = JSPROF_USE_FD };
    options.fd = fd = memfd_create("capture", MFD_CLOEXEC);
    if (!CHECK_EQ(jsprof_open(&prof, &options), 0))
        return false;
    CHECK_EQ(jsprof_thread_attach(prof, "main", &me), 0);
    prof->calls.clock = (struct jsp_calls_clock){ JSP_CALLS_GIVEN, &now_ticks, 1000000000, 0, 0 };
    for (int i = 0; i < FUNCTIONS; i++)
        jsprof_function_new(&functions[i], "f", "f.c", (uint32_t)i,
                            i ? JSPROF_KIND_VM : JSPROF_KIND_GC);
    memset(&model, 0, sizeof model);
    model.gc_id = functions[0]->index;
    for (int i = 0; i < MODEL_STACKS; i++) {
        model.stacks[i].resumer = -1;
        host_stacks[i].c.low = &host_stacks[i];
        host_stacks[i].c.high = &host_stacks[i + 1];
    }
    now_ticks = 1000;
    model_modes(&model, MODEL_TIME, now_ticks);
    CHECK_EQ(jsprof_calls_set(prof, MODEL_TIME), 0);
    table = prof->threads->calls;
    return CHECK(functions[FUNCTIONS - 1]->index < MODEL_IDS);
}

static uint64_t shown_total(const struct model_cell *cell)
{
    int64_t self = shown(cell->self);
    return (uint64_t)(cell->total > self ? cell->total : self);
}

static void compare_file_function(const struct jsp_exact_function *f)
{
    const struct model_cell *want = &model.rows[f->id];
    expect(f->cost.calls, want->calls, "calls in the file", f->id, 0);
    expect(f->cost.self, (uint64_t)shown(want->self), "self in the file", f->id, 0);
    expect(f->cost.total, shown_total(want), "total in the file", f->id, 0);
    expect(f->cost.self_bytes, want->self_bytes, "bytes in the file", f->id, 0);
    expect(f->cost.total_bytes, want->total_bytes, "total bytes in the file", f->id, 0);
}

static void compare_file_edges(const struct jsp_exact *exact)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < exact->n_edges; i++) {
        const struct jsp_exact_edge *e = &exact->edges[i];
        uint32_t caller = exact->functions[e->caller].id, callee = exact->functions[e->callee].id;
        const struct model_cell *want = &model.edges[caller][callee];
        expect(e->cost.calls, want->calls, "calls of an edge in the file", caller, callee);
        expect(e->cost.total, shown_total(want), "total of an edge in the file", caller, callee);
    }
    for (uint32_t i = 0; i < MODEL_IDS; i++)
        for (uint32_t k = 0; k < MODEL_IDS; k++)
            n += model.edges[i][k].calls > 0;
    expect(exact->n_edges, n, "number of edges in the file", 0, 0);
}

static void compare_file_commit(const uint64_t *commit)
{
    uint64_t calls = 0, bytes = 0, negative = 0;
    int64_t inside = 0;
    for (uint32_t i = 0; i < MODEL_IDS; i++) {
        const struct model_cell *row = &model.rows[i];
        calls += row->calls;
        bytes += row->self_bytes;
        inside += row->self;
        negative += (uint64_t)(shown(row->self) - row->self);
    }
    expect(commit[JSP_WIRE_COMMIT_CALLS], calls, "calls of the commit", 0, 0);
    expect(commit[JSP_WIRE_COMMIT_ALLOC], bytes, "bytes of the commit", 0, 0);
    expect(commit[JSP_WIRE_COMMIT_INSIDE], (uint64_t)shown(inside), "inside", 0, 0);
    expect(commit[JSP_WIRE_COMMIT_NEGATIVE], negative, "negative", 0, 0);
    expect(commit[JSP_WIRE_COMMIT_OWN], model.own, "own cost of the commit", 0, 0);
    expect(commit[JSP_WIRE_COMMIT_GC], model.gc, "gc of the commit", 0, 0);
    expect(commit[JSP_WIRE_COMMIT_UNDERFLOWS], model.underflows, "underflows", 0, 0);
    expect(commit[JSP_WIRE_COMMIT_CLOCK_BACK], model.clock_back, "clock back", 0, 0);
    expect(commit[JSP_WIRE_COMMIT_TICKS_PER_SECOND], 1000000000, "ticks", 0, 0);
}

/* The file has the same figures as the tables. */
static void compare_file(void)
{
    static struct jsp_read_defects defects;
    struct jsp_exact exact;
    struct jsp_read r;
    char path[64], why[JSP_READ_WHY];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!CHECK_EQ(jsp_read_open(&r, path, why), 0))
        return;
    if (CHECK_EQ(jsp_exact_read(&exact, &r, &defects), 0) && CHECK(exact.is_there)) {
        for (uint32_t i = 0; i < exact.n_functions; i++)
            compare_file_function(&exact.functions[i]);
        compare_file_edges(&exact);
        compare_file_commit(exact.commit);
    }
    CHECK_EQ(defects.count[JSP_READ_RECORD], 0);
    jsp_exact_free(&exact);
    jsp_read_close(&r);
}

static void finish(void)
{
    CHECK_EQ(wrong, 0);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    jsprof_calls calls = { .size = sizeof calls };
    CHECK_EQ(jsprof_calls_snapshot(prof, &calls), 0);
    CHECK_EQ(calls.threads, 0);
    compare_snapshot(); /* the calls of a thread that ended are still there */
    jsprof_calls_free(&calls);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(jsprof_close(prof), 0);
    compare_file();
    CHECK_EQ(wrong, 0);
    close(fd);
    for (int i = 0; i < FUNCTIONS; i++)
        jsprof_function_free(functions[i]);
}

/* Fewer trees under the thread sanitizer and emulators, or the runner would give up. */
static uint64_t trees(uint64_t n)
{
    const char *under = getenv("RUN_UNDER"), *is_long = getenv("LONG");
    if (under && *under)
        n /= 10;
#ifdef __SANITIZE_THREAD__
    n /= 10;
#endif
    return is_long && *is_long ? n * LONG_TIMES : n;
}

TEST(every_cell_is_what_a_plain_count_of_the_same_random_trees_comes_to)
{
    uint64_t n = trees(TREES), i = 0;
    if (!begin())
        return;
    while (i < n && !wrong)
        tree(i++);
    printf("# %llu trees of %d steps\n", (unsigned long long)i, (int)STEPS);
    host_finish();
    do_modes();
    finish();
}

/* Set the cost of each kind of event, which the library subtracts and reports. */
static void give_costs(void)
{
    struct jsp_calls *c = (struct jsp_calls *)(uintptr_t)table;
    int64_t most = 0;
    for (int i = 0; i < 3; i++) {
        c->cost[i] = below(OWN_MAX);
        model.cost[i] = (int64_t)c->cost[i];
        most = model.cost[i] > most ? model.cost[i] : most;
    }
    c->least = -most;
}

TEST(cost_of_counting_is_taken_out_of_every_cell)
{
    if (!begin())
        return;
    for (uint64_t i = 0; i < trees(TREES) / 20 && !wrong; i++) {
        if (i % 100 == 0)
            give_costs();
        tree(i);
    }
    CHECK(model.own > 0);
    host_finish();
    finish();
}

TEST_MAIN()
