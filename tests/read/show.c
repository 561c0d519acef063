/* show.c - prints what the reading library says of captures, as the CSV of the command's.
 *
 * SPDX-License-Identifier: MIT
 *
 *     show VERB FILE... [WORD=VALUE]...     words as the command's options; a flag has no value
 */
#include <inttypes.h>
#include <jsprof-read.h>
#include <stdio.h>
#include <string.h>

enum { SHOW_INPUTS = 8 };

static jsprof_read_input inputs[SHOW_INPUTS];
static jsprof_read_options options = { .size = sizeof options, .inputs = inputs };
static jsprof_read_filter filter = { .size = sizeof filter };
static jsprof_read_order order = { .size = sizeof order };
static jsprof_read_error error = { .size = sizeof error };

/* A field of CSV; the command shows control characters in another way, so captures that have
 * some are compared without names. */
static void text(const char *at)
{
    putchar('"');
    for (; *at; at++)
        printf(*at == '"' ? "\"\"" : "%c", *at);
    putchar('"');
}

static int failed(void)
{
    fprintf(stderr, "show: %s%s%s%s (%d)\n", error.option ? error.option : "",
            error.path ? error.path : "", error.path || error.option ? ": " : "", error.message,
            error.code);
    return 1;
}

static int report(jsprof_reader *r)
{
    jsprof_read_functions *f;
    jsprof_read_function row = { .size = sizeof row };
    if (jsprof_read_functions_open(&f, r, &order, &error) < 0)
        return failed();
    printf("%s,self,total,self_samples,total_samples\n", order.by ? "group" : "function,kind");
    for (uint64_t i = 0; jsprof_read_function_rows(f, i, &row, 1) == 1; i++) {
        text(row.name);
        printf(",%s%s%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", row.kind,
               *row.kind ? "," : "", row.self, row.total, row.self_samples, row.total_samples);
    }
    jsprof_read_functions_close(f);
    return 0;
}

/* Add up the samples one by one: by thread, and by the innermost function. */
static int samples(jsprof_reader *r)
{
    static jsprof_read_sample some[100];
    jsprof_read_samples *s;
    jsprof_read_frame frame = { .size = sizeof frame };
    jsprof_read_sum sum = { .size = sizeof sum };
    jsprof_read_functions *f;
    uint64_t n = 0, value = 0, weight = 0, frames = 0;
    int64_t got;
    some[0].size = sizeof some[0];
    if (jsprof_read_samples_open(&s, r, &error) < 0)
        return failed();
    while ((got = jsprof_read_samples_next(s, some, 100)) > 0)
        for (int64_t i = 0; i < got; i++, n++) {
            value += some[i].value;
            weight += some[i].weight;
            frames += jsprof_read_frames(r, some[i].stack, 0, &frame, 1) == 1 && *frame.name;
        }
    jsprof_read_samples_close(s);
    if (got < 0 || jsprof_read_functions_open(&f, r, NULL, &error) < 0)
        return failed();
    jsprof_read_functions_sum(f, &sum);
    jsprof_read_functions_close(f);
    printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n%" PRIu64 ",%" PRIu64 ",%" PRIu64
           ",%" PRIu64 "\n", n, value, weight, frames, sum.samples, sum.value, sum.weight,
           sum.samples);
    return 0;
}

static int threads(jsprof_reader *r)
{
    jsprof_read_thread t = { .size = sizeof t };
    puts("process,thread,name,value,samples,first_time_ns,last_time_ns,cpu_ns");
    for (uint64_t i = 0; jsprof_read_threads(r, i, &t, 1) == 1; i++) {
        printf("%d,%d,", t.pid, t.tid);
        text(t.name);
        printf(",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRIu64 "\n", t.value, t.samples,
               t.first, t.last, t.cpu_ns);
    }
    return 0;
}

static int info(jsprof_reader *r)
{
    jsprof_read_info i = { .size = sizeof i };
    jsprof_read_loss loss = { .size = sizeof loss };
    jsprof_read_defect defect = { .size = sizeof defect };
    jsprof_read_datum datum = { .size = sizeof datum };
    jsprof_read_file file = { .size = sizeof file };
    jsprof_read_process process = { .size = sizeof process };
    jsprof_read_about(r, &i);
    printf("%s,%s,%u,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d\n", i.version, i.clock, i.hz,
           i.state, i.samples, i.expirations, i.kept, i.is_whole);
    for (uint64_t n = 0; jsprof_read_losses(r, JSPROF_READ_ALL, n, &loss, 1) == 1; n++)
        printf("%s %" PRIu64 "\n", loss.key, loss.count);
    for (uint64_t n = 0; jsprof_read_defects(r, n, &defect, 1) == 1; n++)
        printf("%s, %" PRIu64 " from byte %" PRIu64 "\n", defect.what, defect.count,
               defect.offset);
    for (uint64_t n = 0; jsprof_read_metadata(r, n, &datum, 1) == 1; n++)
        printf("%s=%s\n", datum.key, datum.value);
    for (uint64_t n = 0; jsprof_read_files(r, n, &file, 1) == 1; n++)
        printf("%s has %" PRIu64 " bytes\n", file.path, file.n_bytes);
    for (uint64_t n = 0; jsprof_read_processes(r, n, &process, 1) == 1; n++)
        printf("%d %s\n", process.pid, process.command);
    return 0;
}

static const struct show_word {
    const char *name, **word;
    uint32_t flag;
} words[] = {
    { "by", &order.by, 0 }, { "sort", &order.sort, 0 }, { "time", &options.time, 0 },
    { "during", &options.during, 0 }, { "clock", &options.clock, 0 },
    { "measure", &options.measure, 0 }, { "thread", &filter.thread, 0 },
    { "process", &filter.process, 0 }, { "only", &filter.only, 0 }, { "not", &filter.without, 0 },
    { "hide", &filter.hide, 0 }, { "under", &filter.under, 0 }, { "focus", &filter.focus, 0 },
    { "top-of", &filter.top_of, 0 }, { "category", &filter.category, 0 },
    { "categories", &filter.categories, 0 }, { "state", &filter.state, 0 },
    { "syscall", &filter.syscall, 0 }, { "symbols", &options.symbols, 0 },
    { "idle", NULL, JSPROF_READ_IDLE }, { "native", NULL, JSPROF_READ_NATIVE },
    { "vm", NULL, JSPROF_READ_VM }, { "hide-system", NULL, JSPROF_READ_HIDE_SYSTEM },
    { "collapse-recursion", NULL, JSPROF_READ_COLLAPSE_RECURSION },
};

static int word(const char *argument)
{
    const char *is = strchr(argument, '=');
    size_t n = is ? (size_t)(is - argument) : strlen(argument);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].name) == n && memcmp(words[i].name, argument, n) == 0) {
            filter.flags |= words[i].flag;
            if (words[i].word)
                *words[i].word = is + 1;
            return 0;
        }
    fprintf(stderr, "show: what is %s?\n", argument);
    return 2;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(jsprof_reader *r);
    } verbs[] = { { "report", report }, { "samples", samples }, { "threads", threads },
                  { "info", info } };
    jsprof_reader *r;
    int status = 2;
    for (int i = 2; i < argc; i++) {
        size_t n = options.n_inputs;
        if (strstr(argv[i], ".cap") && n < SHOW_INPUTS)
            inputs[options.n_inputs++] = (jsprof_read_input){ .size = sizeof *inputs,
                                                              .path = argv[i] };
        else if (word(argv[i]))
            return 2;
    }
    if (jsprof_read_open(&r, &options, &error) < 0)
        return failed();
    if (jsprof_read_select(r, &filter, &error) < 0)
        status = failed();
    else
        for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
            if (strcmp(verbs[i].name, argv[1]) == 0)
                status = verbs[i].run(r);
    jsprof_read_close(r);
    return status;
}
