/* read_fuzz.c - any bytes as a capture, through every function of the reading library.
 *
 * SPDX-License-Identifier: MIT
 *
 * Every text is read to its end, and what adds up does: samples to functions, self to the whole,
 * callers to the total.
 */
#include <stdlib.h>
#include <string.h>

#include "jsprof-read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t fuzz_read; /* so that no text is left unread */

static void fuzz_text(const char *text)
{
    fuzz_read += strlen(text);
}

/* Give each row of an array to `use`. */
#define FUZZ_ROWS(type, call, use)                           \
    do {                                                     \
        type row = { .size = sizeof row };                   \
        uint64_t i = 0;                                      \
        for (; (call) == 1; i++) {                           \
            use;                                             \
        }                                                    \
    } while (0)

static void fuzz_whole(jsprof_reader *r)
{
    jsprof_read_info info = { .size = sizeof info };
    char bytes[100];
    jsprof_read_about(r, &info);
    fuzz_text(info.host);
    fuzz_text(info.capture_time);
    FUZZ_ROWS(jsprof_read_defect, jsprof_read_defects(r, i, &row, 1), fuzz_text(row.what));
    FUZZ_ROWS(jsprof_read_process, jsprof_read_processes(r, i, &row, 1), fuzz_text(row.command));
    FUZZ_ROWS(jsprof_read_thread, jsprof_read_threads(r, i, &row, 1), fuzz_text(row.name));
    FUZZ_ROWS(jsprof_read_stack, jsprof_read_stacks(r, i, &row, 1), fuzz_text(row.detail));
    FUZZ_ROWS(jsprof_read_loss, jsprof_read_losses(r, 0, i, &row, 1), fuzz_text(row.name));
    FUZZ_ROWS(jsprof_read_account, jsprof_read_accounts(r, i, &row, 1), fuzz_text(row.name));
    FUZZ_ROWS(jsprof_read_loss, jsprof_read_account_losses(r, 0, i, &row, 1), fuzz_text(row.key));
    jsprof_read_session session = { .size = sizeof session };
    jsprof_read_account all = { .size = sizeof all };
    jsprof_read_session_of(r, &session, &all);
    fuzz_text(session.state);
    fuzz_text(info.scheduler);
    jsprof_read_vm vm = { .size = sizeof vm };
    if (jsprof_read_vm_of(r, &vm) == 0 && (vm.value > vm.all || vm.all > info.value))
        abort();
    FUZZ_ROWS(jsprof_read_native_file, jsprof_read_native_files(r, i, &row, 1),
              (fuzz_text(row.path), fuzz_text(row.build_id), fuzz_text(row.from)));
    FUZZ_ROWS(jsprof_read_datum, jsprof_read_metadata(r, i, &row, 1),
              (fuzz_text(row.key), fuzz_text(row.value)));
    FUZZ_ROWS(jsprof_read_file, jsprof_read_files(r, i, &row, 1), {
        uint64_t n = 0;
        int64_t got;
        fuzz_text(row.path);
        while ((got = jsprof_read_file_bytes(r, i, n, bytes, sizeof bytes)) > 0)
            n += (uint64_t)got;
        if (n != row.n_bytes)
            abort();
    });
}

static void fuzz_samples(jsprof_reader *r)
{
    jsprof_read_samples *s;
    jsprof_read_functions *f;
    jsprof_read_sum sum = { .size = sizeof sum };
    jsprof_read_sample some[7] = { { .size = sizeof *some } };
    uint64_t value = 0, n = 0;
    int64_t got;
    if (jsprof_read_samples_open(&s, r, NULL) < 0)
        return;
    while ((got = jsprof_read_samples_next(s, some, 7)) > 0)
        for (int64_t k = 0; k < got; k++, n++) {
            value += some[k].value;
            if (n < 100)
                FUZZ_ROWS(jsprof_read_frame, jsprof_read_frames(r, some[k].stack, i, &row, 1),
                          fuzz_text(row.name));
        }
    jsprof_read_samples_close(s);
    if (jsprof_read_functions_open(&f, r, NULL, NULL) < 0)
        return;
    jsprof_read_functions_sum(f, &sum);
    if (sum.samples != n || sum.value != value)
        abort();
    jsprof_read_functions_close(f);
}

/* Blocks have all rows, each in one of them. */
static void fuzz_inside(const jsprof_read_listing *l)
{
    jsprof_read_inside inside = { .size = sizeof inside };
    uint64_t rows = 0;
    if (jsprof_read_listing_of(l, &inside) == 0) {
        fuzz_text(inside.file);
        if (inside.in_lines > inside.self || inside.in_rows > inside.self ||
            inside.self > inside.total || inside.total > inside.value)
            abort();
    }
    FUZZ_ROWS(jsprof_read_block, jsprof_read_listing_blocks(l, i, &row, 1), rows += row.n);
    if (rows != (uint64_t)jsprof_read_listing_rows(l, 0, NULL, 0))
        abort();
    FUZZ_ROWS(jsprof_read_operation, jsprof_read_operations(l, i, &row, 1), fuzz_text(row.name));
    FUZZ_ROWS(jsprof_read_defect, jsprof_read_listing_defects(l, i, &row, 1), fuzz_text(row.what));
}

/* The lines and rows of a function, and its neighbours. */
static void fuzz_function(jsprof_reader *r, const jsprof_read_function *of)
{
    jsprof_read_listing *l;
    jsprof_read_neighbours *n;
    jsprof_read_centre centre = { .size = sizeof centre };
    uint64_t callers = 0;
    if (jsprof_read_listing_open(&l, r, of->function, NULL) == 0) {
        FUZZ_ROWS(jsprof_read_line, jsprof_read_listing_lines(l, i, &row, 1), fuzz_text(row.file));
        FUZZ_ROWS(jsprof_read_row, jsprof_read_listing_rows(l, i, &row, 1), {
            fuzz_text(row.text);
            for (uint32_t k = 0; k < row.n_targets; k++)
                fuzz_read += row.targets[k] & 1;
        });
        fuzz_inside(l);
        jsprof_read_listing_close(l);
    }
    if (jsprof_read_neighbours_open(&n, r, of->name, NULL) == 0) {
        jsprof_read_neighbours_of(n, &centre);
        FUZZ_ROWS(jsprof_read_neighbour, jsprof_read_callers(n, i, &row, 1),
                  callers += row.samples);
        FUZZ_ROWS(jsprof_read_neighbour, jsprof_read_callees(n, i, &row, 1),
                  fuzz_text(row.name));
        if (callers != centre.total_samples)
            abort();
        jsprof_read_neighbours_close(n);
    }
}

static void fuzz_tables(jsprof_reader *r)
{
    static const char *const bys[] = { NULL, "category", "line", "thread", "syscall" };
    jsprof_read_functions *f;
    jsprof_read_tree *t;
    for (size_t by = 0; by < sizeof bys / sizeof *bys; by++) {
        const jsprof_read_order order = { .size = sizeof order, .by = bys[by], .sort = "total" };
        jsprof_read_sum sum = { .size = sizeof sum };
        if (jsprof_read_functions_open(&f, r, &order, NULL) < 0)
            return;
        jsprof_read_functions_sum(f, &sum);
        FUZZ_ROWS(jsprof_read_function, jsprof_read_function_rows(f, i, &row, 1), {
            fuzz_text(row.name);
            fuzz_text(row.path);
            if (row.total_samples > sum.samples || (!by && row.self_samples > row.total_samples))
                abort();
            if (!by && i < 3)
                fuzz_function(r, &row);
        });
        jsprof_read_functions_close(f);
    }
    for (int up = 0; up < 2; up++) {
        const jsprof_read_shape shape = { .size = sizeof shape, .is_bottom_up = up,
                                          .has_lines = up };
        uint64_t self = 0, total = 0;
        if (jsprof_read_tree_open(&t, r, &shape, NULL) < 0)
            return;
        FUZZ_ROWS(jsprof_read_node, jsprof_read_nodes(t, i, &row, 1), {
            self += row.self;
            total = i ? total : row.total;
            fuzz_text(row.name);
            if (row.next <= i || (i && row.parent >= i))
                abort();
        });
        if (self != total)
            abort();
        jsprof_read_tree_close(t);
    }
}

/* Those that have figures, in order; the same twice is without a change. */
static void fuzz_calls(jsprof_read_calls *c)
{
    static const char *const sorts[] = { "total", "name" };
    jsprof_read_calls_comparison *pairs;
    uint64_t functions = (uint64_t)jsprof_read_called_rows(c, 0, NULL, 0);
    uint64_t edges = (uint64_t)jsprof_read_edges(c, 0, NULL, 0);
    uint32_t number;
    FUZZ_ROWS(jsprof_read_counting, jsprof_read_countings(c, i, &row, 1),
              fuzz_read += row.has_time);
    for (size_t k = 0; k < sizeof sorts / sizeof *sorts; k++) {
        const jsprof_read_calls_filter f = { .size = sizeof f, .sort = sorts[k],
                                             .only = k ? "a|f" : NULL, .min = k ? 0.01 : 0 };
        if (jsprof_read_calls_compare(&pairs, c, c, sorts[k], f.min, NULL) == 0) {
            FUZZ_ROWS(jsprof_read_call_change, jsprof_read_call_changes(pairs, i, &row, 1), {
                fuzz_text(row.shown);
                fuzz_text(row.file);
                if (row.calls[0] != row.calls[1] || !row.is_there[0] || !row.is_there[1])
                    abort();
            });
            jsprof_read_calls_compare_close(pairs);
        }
        if (jsprof_read_calls_select(c, &f, NULL) < 0)
            return;
        uint64_t n = 0;
        for (; jsprof_read_called_order(c, n, &number, 1) == 1; n++)
            if (number >= functions)
                abort();
        if (n != (uint64_t)jsprof_read_called_order(c, 0, NULL, 0))
            abort();
        for (n = 0; jsprof_read_edge_order(c, n, &number, 1) == 1; n++)
            if (number >= edges)
                abort();
    }
}

static void fuzz_events(jsprof_reader *r)
{
    jsprof_read_events *e;
    jsprof_read_calls *c;
    if (jsprof_read_events_open(&e, r, NULL) == 0) {
        FUZZ_ROWS(jsprof_read_mark, jsprof_read_marks(e, i, &row, 1), fuzz_text(row.message));
        FUZZ_ROWS(jsprof_read_counter, jsprof_read_counters(e, i, &row, 1), fuzz_text(row.name));
        uint64_t n = (uint64_t)jsprof_read_counters(e, 0, NULL, 0);
        FUZZ_ROWS(jsprof_read_value, jsprof_read_values(e, i, &row, 1), {
            if (row.counter >= n)
                abort();
        });
        jsprof_read_events_close(e);
    }
    if (jsprof_read_calls_open(&c, r, NULL) == 0) {
        uint64_t n = (uint64_t)jsprof_read_called_rows(c, 0, NULL, 0);
        FUZZ_ROWS(jsprof_read_called, jsprof_read_called_rows(c, i, &row, 1), fuzz_text(row.name));
        FUZZ_ROWS(jsprof_read_edge, jsprof_read_edges(c, i, &row, 1), {
            if (row.caller >= n || row.callee >= n)
                abort();
        });
        fuzz_calls(c);
        jsprof_read_calls_close(c);
    }
    FUZZ_ROWS(jsprof_read_defect, jsprof_read_calls_defects(r, i, &row, 1), fuzz_text(row.what));
}

/* Records are in the file, one after the other; samples have as many addresses as they say. */
static void fuzz_records(jsprof_reader *r)
{
    jsprof_read_info info = { .size = sizeof info };
    jsprof_read_records *all;
    jsprof_read_record record = { .size = sizeof record };
    jsprof_read_part part = { .size = sizeof part };
    jsprof_read_about(r, &info);
    if (jsprof_read_records_open(&all, r, NULL) < 0)
        return;
    while (jsprof_read_records_next(all, &record) == 1) {
        uint32_t n = 0;
        fuzz_text(record.type);
        fuzz_text(record.name);
        fuzz_text(record.text);
        fuzz_text(record.group);
        fuzz_text(record.detail);
        for (uint64_t k = 0; k < record.n_data; k++)
            fuzz_read += ((const uint8_t *)record.data)[k];
        for (; jsprof_read_parts_next(all, &part) == 1; n++)
            fuzz_text(part.name ? part.name : part.module);
        if (record.offset > info.n_bytes || (!record.is_readable && n))
            abort();
    }
    jsprof_read_records_close(all);
}

/* Tasks with their stacks; the same capture twice runs them in the same order. */
static void fuzz_tasks(jsprof_reader *r)
{
    jsprof_read_tasks *t;
    jsprof_read_divergence d = { .size = sizeof d };
    if (jsprof_read_tasks_open(&t, r, NULL) < 0)
        return;
    FUZZ_ROWS(jsprof_read_task, jsprof_read_task_rows(t, i, &row, 1), {
        fuzz_text(row.name);
        if (i < 10 && jsprof_read_task_frames(t, (uint32_t)i, 0, NULL, 0) > 0 &&
            row.stack == JSPROF_READ_NONE)
            abort();
    });
    if (jsprof_read_diverge(t, t, &d, NULL) == 0 && !d.is_same)
        abort();
    jsprof_read_tasks_close(t);
}

/* Runs in groups are all runs; a group of stalls is its stalls. */
static void fuzz_loop(jsprof_reader *r)
{
    jsprof_read_run_groups *g;
    jsprof_read_run_groups_sum runs = { .size = sizeof runs };
    jsprof_read_stalls *s;
    jsprof_read_stalls_sum stalls = { .size = sizeof stalls };
    uint64_t n = 0;
    if (jsprof_read_run_groups_open(&g, r, NULL, NULL) == 0) {
        jsprof_read_run_groups_of(g, &runs);
        FUZZ_ROWS(jsprof_read_run_group, jsprof_read_run_group_rows(g, i, &row, 1), {
            fuzz_text(row.kind);
            fuzz_text(row.name);
            n += row.runs;
        });
        if (n != runs.runs)
            abort();
        jsprof_read_run_groups_close(g);
    }
    if (jsprof_read_stalls_open(&s, r, "1us", NULL) < 0)
        return;
    jsprof_read_stalls_of(s, &stalls);
    n = 0;
    FUZZ_ROWS(jsprof_read_stall, jsprof_read_stall_groups(s, i, &row, 1), n += row.n);
    if (n != stalls.stalls)
        abort();
    FUZZ_ROWS(jsprof_read_stall, jsprof_read_stall_rows(s, i, &row, 1), {
        fuzz_text(row.cause);
        fuzz_text(row.call ? row.call : "");
        fuzz_text(row.name ? row.name : "");
        if (row.duration < stalls.over)
            abort();
    });
    jsprof_read_stalls_close(s);
}

static void fuzz_links(const jsprof_read_chains *c, uint64_t chain)
{
    uint64_t kinds = (uint64_t)jsprof_read_task_kinds(c, 0, NULL, 0);
    FUZZ_ROWS(jsprof_read_link, jsprof_read_links(c, chain, i, &row, 1), {
        fuzz_text(row.kind);
        fuzz_text(row.name);
        if (row.what >= kinds)
            abort();
        if (chain < 3 && i < 5)
            jsprof_read_link_frames(c, chain, i, 0, NULL, 0);
    });
}

static void fuzz_chains(jsprof_reader *r)
{
    static const char *const whiches[] = { "t", "#7", "work", "gc/sweep" };
    const jsprof_read_alike alike = { .size = sizeof alike, .is_vm = true, .most = 2 };
    jsprof_read_chains *c;
    for (size_t which = 0; which < sizeof whiches / sizeof *whiches; which++) {
        if (jsprof_read_chains_open(&c, r, whiches[which], which & 1 ? &alike : NULL, NULL) < 0)
            continue;
        uint64_t kinds = (uint64_t)jsprof_read_task_kinds(c, 0, NULL, 0);
        FUZZ_ROWS(jsprof_read_chain, jsprof_read_chain_rows(c, i, &row, 1), fuzz_links(c, i));
        FUZZ_ROWS(jsprof_read_ready, jsprof_read_ready_by(c, 0, i, &row, 1), {
            fuzz_text(row.kind);
            fuzz_text(row.name);
            if (row.what >= kinds || !row.runs)
                abort();
        });
        jsprof_read_chains_close(c);
    }
}

/* The capture with itself has no change. */
static void fuzz_compare(jsprof_reader *r)
{
    jsprof_read_comparison *c;
    if (jsprof_read_compare(&c, r, r, NULL, NULL) < 0)
        return;
    FUZZ_ROWS(jsprof_read_change, jsprof_read_changes(c, i, &row, 1), {
        fuzz_text(row.name);
        if (row.self[0] != row.self[1] || row.is_real)
            abort();
    });
    jsprof_read_compare_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jsprof_read_filter filters[] = {
        { .only = "a|b" }, { .under = "main" }, { .flags = JSPROF_READ_NATIVE },
        { .flags = JSPROF_READ_VM }, { .state = "asleep" },
        { .category = "library", .flags = JSPROF_READ_HIDE_SYSTEM },
        { .thread = "100", .flags = JSPROF_READ_COLLAPSE_RECURSION },
    };
    jsprof_read_input in = { .size = sizeof in, .bytes = size ? data : (const void *)"",
                             .n_bytes = size };
    const jsprof_read_options o = { .size = sizeof o, .inputs = &in, .n_inputs = 1,
                                    .flags = JSPROF_READ_ROWS };
    jsprof_read_error e = { .size = sizeof e };
    jsprof_reader *r;
    if (jsprof_read_open(&r, &o, &e) < 0) {
        if (!*e.message)
            abort();
        return 0;
    }
    fuzz_whole(r);
    fuzz_samples(r);
    fuzz_tables(r);
    fuzz_events(r);
    fuzz_records(r);
    fuzz_tasks(r);
    fuzz_loop(r);
    fuzz_chains(r);
    fuzz_compare(r);
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        filters[i].size = sizeof *filters;
        if (jsprof_read_select(r, &filters[i], &e) == 0)
            fuzz_samples(r);
    }
    jsprof_read_close(r);
    return 0;
}
