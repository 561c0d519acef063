/* inside.c - prints what the reading library says of a capture besides its samples: what the
 * recorder counted, exact calls in order, and the records of the file.
 *
 * SPDX-License-Identifier: MIT
 *
 *     inside counts CAPTURE
 *     inside calls CAPTURE ONLY FILE MIN SORT     "" for ONLY and FILE: any
 *     inside changes BEFORE AFTER SORT MIN
 *     inside records CAPTURE
 */
#include <inttypes.h>
#include <jsprof-read.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jsprof_read_error error = { .size = sizeof error };

static int failed(void)
{
    printf("%d: %s\n", error.code, error.message);
    return 1;
}

static jsprof_reader *opened(const char *path, uint32_t flags)
{
    const jsprof_read_input in = { .size = sizeof in, .path = path };
    const jsprof_read_options o = { .size = sizeof o, .inputs = &in, .n_inputs = 1,
                                    .flags = flags };
    jsprof_reader *r;
    if (jsprof_read_open(&r, &o, &error) < 0)
        exit(failed());
    return r;
}

static int counts(const char *path)
{
    jsprof_reader *r = opened(path, 0);
    jsprof_read_info i = { .size = sizeof i };
    jsprof_read_session s = { .size = sizeof s };
    jsprof_read_account all = { .size = sizeof all }, a = { .size = sizeof a };
    jsprof_read_loss loss = { .size = sizeof loss };
    jsprof_read_vm vm = { .size = sizeof vm };
    jsprof_read_about(r, &i);
    jsprof_read_session_of(r, &s, &all);
    printf("%" PRIu64 " stacks, %" PRIu64 " packed, %s-endian, session %d %s, %" PRIu64
           " forks, total %d\n", i.stacks, i.packed, i.is_little_endian ? "little" : "big",
           s.is_there, s.state, s.forks, s.has_total);
    printf("all: %" PRIu64 " = %" PRIu64 " + %" PRIu64 "\n", all.expirations, all.kept, all.lost);
    for (uint64_t k = 0; jsprof_read_accounts(r, k, &a, 1) == 1; k++) {
        uint64_t lost = 0;
        for (uint64_t j = 0; jsprof_read_account_losses(r, k, j, &loss, 1) == 1; j++)
            lost += loss.count;
        printf("thread %d: %" PRIu64 " = %" PRIu64 " + %" PRIu64 " (%" PRIu64 "), cpu %" PRIu64
               ", newest %d, in file %" PRIu64 "\n", a.tid, a.expirations, a.kept, a.lost, lost,
               a.cpu_ns, a.is_newest, a.in_file);
    }
    if (jsprof_read_vm_of(r, &vm) == 0)
        printf("vm %" PRIu64 " of %" PRIu64 "\n", vm.value, vm.all);
    printf("work %d, nobody %d\n", jsprof_read_has_function(r, "work"),
           jsprof_read_has_function(r, "nobody"));
    jsprof_read_close(r);
    return 0;
}

static jsprof_read_calls *calls_of(jsprof_reader *r)
{
    jsprof_read_calls *c;
    if (jsprof_read_calls_open(&c, r, &error) < 0)
        exit(failed());
    return c;
}

static int calls(char **words)
{
    jsprof_reader *r = opened(words[0], JSPROF_READ_NO_SAMPLES);
    jsprof_read_calls *c = calls_of(r);
    jsprof_read_counted sum = { .size = sizeof sum };
    jsprof_read_called row = { .size = sizeof row };
    jsprof_read_edge edge = { .size = sizeof edge };
    jsprof_read_counting mode = { .size = sizeof mode };
    const jsprof_read_calls_filter f = { .size = sizeof f, .only = *words[1] ? words[1] : NULL,
                                         .file = *words[2] ? words[2] : NULL,
                                         .min = strtod(words[3], NULL), .sort = words[4] };
    uint32_t all[100], one;
    jsprof_read_calls_of(c, &sum);
    printf("%" PRIu64 " calls in %" PRIu64 " ns, %" PRIu64 " bytes, %" PRIu64 " threads, of %s, %d"
           " samples\n", sum.calls, sum.inside_ns, sum.bytes, sum.threads, sum.command,
           (int)jsprof_read_stacks(r, 0, NULL, 0));
    for (uint64_t i = 0; jsprof_read_countings(c, i, &mode, 1) == 1; i++)
        printf("counts %d%d%d%d\n", mode.has_counts, mode.has_time, mode.has_bytes,
               mode.has_edges);
    if (jsprof_read_calls_select(c, &f, &error) < 0)
        return failed();
    /* One by one, and all at once. */
    int64_t n = jsprof_read_called_order(c, 0, NULL, 0);
    for (uint64_t i = 0; jsprof_read_called_order(c, i, &one, 1) == 1; i++) {
        jsprof_read_called_rows(c, one, &row, 1);
        printf("%s:%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.3f %s%s\n", row.file,
               row.line, row.calls, row.self_ns, row.total_ns, row.each_ns, row.self_share,
               row.kind, row.is_rest ? " rest" : "");
        if (jsprof_read_called_order(c, 0, all, 100) != n || all[i] != one)
            puts("another order");
    }
    for (uint64_t i = 0; jsprof_read_edge_order(c, i, &one, 1) == 1; i++) {
        jsprof_read_edges(c, one, &edge, 1);
        printf("%u > %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", edge.caller, edge.callee,
               edge.calls, edge.total_ns, edge.each_ns);
    }
    jsprof_read_calls_close(c);
    jsprof_read_close(r);
    return 0;
}

static int changes(char **words)
{
    jsprof_reader *r[2] = { opened(words[0], JSPROF_READ_NO_SAMPLES),
                            opened(words[1], JSPROF_READ_NO_SAMPLES) };
    jsprof_read_calls *c[2] = { calls_of(r[0]), calls_of(r[1]) };
    jsprof_read_calls_comparison *pairs;
    jsprof_read_call_change row = { .size = sizeof row };
    if (jsprof_read_calls_compare(&pairs, c[0], c[1], words[2], strtod(words[3], NULL), &error) < 0)
        return failed();
    for (uint64_t i = 0; jsprof_read_call_changes(pairs, i, &row, 1) == 1; i++)
        printf("%s:%u %d%d, %" PRIu64 " to %" PRIu64 ", %" PRIu64 " to %" PRIu64 "\n", row.file,
               row.line, row.is_there[0], row.is_there[1], row.calls[0], row.calls[1],
               row.self_ns[0], row.self_ns[1]);
    jsprof_read_calls_compare_close(pairs);
    for (int i = 0; i < 2; i++) {
        jsprof_read_calls_close(c[i]);
        jsprof_read_close(r[i]);
    }
    return 0;
}

/* The records are the file, one after the other. Addresses of samples are what their types say. */
static int records(const char *path)
{
    jsprof_reader *r = opened(path, 0);
    jsprof_read_info info = { .size = sizeof info };
    jsprof_read_records *all;
    jsprof_read_record record = { .size = sizeof record };
    jsprof_read_part part = { .size = sizeof part };
    uint64_t samples = 0, names = 0;
    jsprof_read_about(r, &info);
    if (jsprof_read_records_open(&all, r, &error) < 0)
        return failed();
    while (jsprof_read_records_next(all, &record) == 1) {
        uint32_t parts = 0;
        samples += strcmp(record.type, "SAMPLE") == 0;
        for (; jsprof_read_parts_next(all, &part) == 1; parts++)
            names += part.name && *part.name;
        if (record.n_parts && parts != record.n_parts)
            printf("%u parts, not %u\n", parts, record.n_parts);
        if (!strcmp(record.type, "MARK") || !strcmp(record.type, "MAP") ||
            !strcmp(record.type, "META") || !strcmp(record.type, "FILE"))
            printf("%s %s %s %" PRIu64 "\n", record.type, record.name, record.text,
                   record.n_data + (uint64_t)record.duration + record.end - record.begin);
    }
    printf("%" PRIu64 " samples, %s names\n", samples, names ? "some" : "no");
    jsprof_read_records_close(all);
    jsprof_read_close(r);
    return 0;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 2 ? argv[1] : "";
    return strcmp(verb, "counts") == 0                 ? counts(argv[2])
           : strcmp(verb, "calls") == 0 && argc > 6    ? calls(argv + 2)
           : strcmp(verb, "changes") == 0 && argc > 5 ? changes(argv + 2)
           : strcmp(verb, "records") == 0              ? records(argv[2])
                                                       : 2;
}
