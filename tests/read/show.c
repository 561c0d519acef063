/* show.c - prints what the reading library says of captures, as the CSV of the command's.
 *
 * SPDX-License-Identifier: MIT
 *
 *     show VERB FILE... [WORD=VALUE]...     words as the command's options; a flag has no value
 *
 * The word `of` names a function.
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
static jsprof_read_shape shape = { .size = sizeof shape };
static const char *of = "main";
static jsprof_read_error error = { .size = sizeof error };

/* A field of CSV. */
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

static int tree(jsprof_reader *r)
{
    jsprof_read_tree *t;
    jsprof_read_node node = { .size = sizeof node };
    if (jsprof_read_tree_open(&t, r, &shape, &error) < 0)
        return failed();
    puts("id,parent,depth,function,kind,module,file,line,self,total,samples");
    for (uint64_t i = 1; jsprof_read_nodes(t, i, &node, 1) == 1; i++) {
        printf("%" PRIu64 ",%u,%u,", i, node.parent, node.depth);
        text(node.name);
        printf(",%s,", node.kind);
        text(node.module);
        putchar(',');
        text(node.file);
        printf(",%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", node.line, node.self, node.total,
               node.samples);
    }
    jsprof_read_tree_close(t);
    return 0;
}

static void neighbour(const char *part, const char *name, const char *module,
                      const uint64_t figures[2])
{
    printf("%s,", part);
    if (name)
        text(name);
    putchar(',');
    text(module);
    printf(",%" PRIu64 ",%" PRIu64 "\n", figures[0], figures[1]);
}

static int callers(jsprof_reader *r)
{
    jsprof_read_neighbours *n;
    jsprof_read_centre c = { .size = sizeof c };
    jsprof_read_neighbour row = { .size = sizeof row };
    if (jsprof_read_neighbours_open(&n, r, of, &error) < 0)
        return failed();
    jsprof_read_neighbours_of(n, &c);
    puts("part,function,module,value,samples");
    for (uint64_t i = 0; jsprof_read_callers(n, i, &row, 1) == 1; i++)
        neighbour("caller", row.name, row.module, (uint64_t[]){ row.value, row.samples });
    neighbour("total", c.name, c.module, (uint64_t[]){ c.total, c.total_samples });
    neighbour("self", c.name, c.module, (uint64_t[]){ c.self, c.self_samples });
    for (uint64_t i = 0; jsprof_read_callees(n, i, &row, 1) == 1; i++)
        neighbour("callee", row.name, row.module, (uint64_t[]){ row.value, row.samples });
    jsprof_read_neighbours_close(n);
    return 0;
}

static int list(jsprof_reader *r)
{
    jsprof_read_events *e;
    jsprof_read_mark mark = { .size = sizeof mark };
    if (jsprof_read_events_open(&e, r, &error) < 0)
        return failed();
    puts("time_ns,duration_ns,process,group,name,message");
    for (uint64_t i = 0; jsprof_read_marks(e, i, &mark, 1) == 1; i++) {
        printf("%" PRId64 ",%" PRId64 ",%d,", mark.time, mark.duration, mark.process);
        text(mark.group);
        putchar(',');
        text(mark.name);
        putchar(',');
        text(mark.message);
        putchar('\n');
    }
    jsprof_read_events_close(e);
    return 0;
}

/* The number of values of each counter, and their sum. */
static int counters(jsprof_reader *r)
{
    jsprof_read_events *e;
    jsprof_read_counter counter = { .size = sizeof counter };
    jsprof_read_value value = { .size = sizeof value };
    if (jsprof_read_events_open(&e, r, &error) < 0)
        return failed();
    for (uint64_t i = 0; jsprof_read_counters(e, i, &counter, 1) == 1; i++) {
        double sum = 0;
        uint32_t n = 0;
        for (uint64_t j = 0; jsprof_read_values(e, j, &value, 1) == 1; j++)
            if (value.counter == i) {
                sum += value.value;
                n++;
            }
        if (n != counter.n_values)
            return 1;
        if (n == 0)
            continue;
        text(counter.group);
        putchar(',');
        text(counter.name);
        printf(",%u,%.12g\n", n, sum);
    }
    jsprof_read_events_close(e);
    return 0;
}

static int calls(jsprof_reader *r)
{
    jsprof_read_calls *c;
    jsprof_read_counted all = { .size = sizeof all };
    jsprof_read_called row = { .size = sizeof row };
    if (jsprof_read_calls_open(&c, r, &error) < 0)
        return failed();
    for (uint64_t i = 0; jsprof_read_called_rows(c, i, &row, 1) == 1; i++) {
        if (!row.calls && !row.self_ns && !row.total_ns && !row.self_bytes && !row.total_bytes)
            continue;
        text(row.name);
        putchar(',');
        text(row.file);
        printf(",%u,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", row.line,
               row.kind, row.calls, row.self_ns, row.total_ns, row.self_bytes, row.total_bytes);
    }
    jsprof_read_calls_of(c, &all);
    printf("\"[garbage collection]\",\"\",0,synth,0,%" PRIu64 ",0,0,0\n"
           "\"[own cost of counting]\",\"\",0,synth,0,%" PRIu64 ",0,0,0\n",
           all.collector_ns, all.own_ns);
    jsprof_read_calls_close(c);
    return 0;
}

static int edges(jsprof_reader *r)
{
    jsprof_read_calls *c;
    jsprof_read_edge edge = { .size = sizeof edge };
    if (jsprof_read_calls_open(&c, r, &error) < 0)
        return failed();
    for (uint64_t i = 0; jsprof_read_edges(c, i, &edge, 1) == 1; i++)
        if (edge.calls || edge.total_ns)
            printf("%" PRIu64 ",%" PRIu64 "\n", edge.calls, edge.total_ns);
    jsprof_read_calls_close(c);
    return 0;
}

/* Lines and rows of the first function of that name. */
static int annotate(jsprof_reader *r)
{
    jsprof_read_functions *f;
    jsprof_read_function row = { .size = sizeof row };
    jsprof_read_listing *l;
    jsprof_read_line line = { .size = sizeof line };
    jsprof_read_row code = { .size = sizeof code };
    uint32_t function = UINT32_MAX;
    if (jsprof_read_functions_open(&f, r, NULL, &error) < 0)
        return failed();
    for (uint64_t i = 0; jsprof_read_function_rows(f, i, &row, 1) == 1; i++)
        if (strncmp(row.name, of, strlen(of)) == 0 && row.name[strlen(of)] == ' ')
            function = row.function;
    jsprof_read_functions_close(f);
    if (jsprof_read_listing_open(&l, r, function, &error) < 0)
        return failed();
    for (uint64_t i = 0; jsprof_read_listing_lines(l, i, &line, 1) == 1; i++)
        printf("line,%u,%" PRIu64 ",%" PRIu64 "\n", line.line, line.self, line.total);
    for (uint64_t i = 0; jsprof_read_listing_rows(l, i, &code, 1) == 1; i++)
        printf("row,%u,%" PRIu64 ",%" PRIu64 "\n", code.line, code.self, code.total);
    jsprof_read_listing_close(l);
    return 0;
}

/* As the CSV of `jsprof list`. */
static int spreads(jsprof_reader *r)
{
    jsprof_read_events *e;
    jsprof_read_spread s = { .size = sizeof s };
    if (jsprof_read_events_open(&e, r, &error) < 0)
        return failed();
    for (uint64_t i = 0; jsprof_read_message_spreads(e, i, &s, 1) == 1; i++) {
        printf("%s,", s.is_counter ? "counter" : "mark");
        text(s.group);
        putchar(',');
        text(s.name);
        putchar(',');
        if (!s.is_counter)
            text(s.message);
        printf(",%" PRIu64 ",%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g\n", s.n, s.total, s.min,
               s.mean, s.median, s.p95, s.max, s.last);
    }
    jsprof_read_events_close(e);
    return 0;
}

/* By the kind and name of the task: how many were made, their runs, the longest delay; then the
 * runs in their threads, the turns, and the frames on which each task was made. */
static int tasks(jsprof_reader *r)
{
    jsprof_read_tasks *t;
    jsprof_read_task task = { .size = sizeof task };
    jsprof_read_run run = { .size = sizeof run };
    jsprof_read_turn turn = { .size = sizeof turn };
    jsprof_read_frame frame = { .size = sizeof frame };
    jsprof_read_tasks_sum sum = { .size = sizeof sum };
    if (jsprof_read_tasks_open(&t, r, &error) < 0)
        return failed();
    jsprof_read_tasks_of(t, &sum);
    printf("%" PRIu64 " tasks, %" PRIu64 " runs, %" PRIu64 " turns, unknown %" PRIu64 ", before %"
           PRIu64 ", repeated %" PRIu64 ", crossing %" PRIu64 "\n", sum.tasks, sum.runs, sum.turns,
           sum.unknown, sum.before, sum.repeated, sum.crossing);
    for (uint64_t i = 0; jsprof_read_task_rows(t, i, &task, 1) == 1; i++) {
        printf("task %" PRIu64 " %s %s of %d at %" PRId64 ", runs %u", task.number, task.kind,
               task.name, task.tid, task.time, task.n_runs);
        if (task.parent != JSPROF_READ_NONE)
            printf(", parent %u", task.parent);
        for (uint64_t f = 0; jsprof_read_task_frames(t, (uint32_t)i, f, &frame, 1) == 1; f++)
            printf(" < %s", frame.name);
        putchar('\n');
    }
    for (uint64_t i = 0; jsprof_read_runs(t, i, &run, 1) == 1; i++)
        printf("run %" PRIu64 " of %d on %d at %" PRId64 " for %" PRId64 ", inner %" PRId64
               ", delay %" PRId64 ", depth %u%s\n", i, (int)run.task, run.tid, run.time,
               run.duration, run.inner, run.delay, run.depth, run.is_open ? ", open" : "");
    for (uint64_t i = 0; jsprof_read_turns(t, i, &turn, 1) == 1; i++)
        printf("turn on %d at %" PRId64 " for %" PRId64 ", inner %" PRId64 "\n", turn.tid,
               turn.time, turn.duration, turn.inner);
    jsprof_read_tasks_close(t);
    return 0;
}

/* Two captures, of which the first is opened here. */
static int diff(jsprof_reader *after)
{
    jsprof_reader *before;
    jsprof_read_comparison *c;
    jsprof_read_change row = { .size = sizeof row };
    int status = 1;
    options.n_inputs = 1;
    if (jsprof_read_open(&before, &options, &error) < 0)
        return failed();
    if (jsprof_read_select(before, &filter, &error) < 0 ||
        jsprof_read_compare(&c, before, after, order.sort, &error) < 0)
        goto out;
    puts("function,kind,module,self_before,self_after,total_before,total_after,significant");
    for (uint64_t i = 0; jsprof_read_changes(c, i, &row, 1) == 1; i++) {
        text(row.name);
        printf(",%s,", row.kind);
        text(row.module);
        printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d\n", row.self[0], row.self[1],
               row.total[0], row.total[1], order.sort ? row.is_total_real : row.is_real);
    }
    jsprof_read_compare_close(c);
    status = 0;
out:
    jsprof_read_close(before);
    return status ? failed() : 0;
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
    { "of", &of, 0 },
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
    if (strcmp(argument, "bottom-up") == 0)
        return shape.is_bottom_up = true, 0;
    if (strcmp(argument, "lines") == 0)
        return shape.has_lines = true, 0;
    if (strcmp(argument, "recursion") == 0)
        return shape.is_recursive = true, 0;
    fprintf(stderr, "show: what is %s?\n", argument);
    return 2;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(jsprof_reader *r);
    } verbs[] = { { "report", report }, { "samples", samples }, { "threads", threads },
                  { "tree", tree }, { "callers", callers }, { "list", list },
                  { "counters", counters }, { "calls", calls }, { "edges", edges },
                  { "annotate", annotate }, { "diff", diff }, { "tasks", tasks },
                  { "spreads", spreads } };
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
    if (strcmp(argv[1], "diff") == 0 && options.n_inputs == 2) {
        options.inputs = &inputs[1];
        options.n_inputs = 1;
    }
    options.flags = JSPROF_READ_ROWS;
    if (jsprof_read_open(&r, &options, &error) < 0)
        return failed();
    options.inputs = inputs;
    if (jsprof_read_select(r, &filter, &error) < 0)
        status = failed();
    else
        for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
            if (strcmp(verbs[i].name, argv[1]) == 0)
                status = verbs[i].run(r);
    jsprof_read_close(r);
    return status;
}
