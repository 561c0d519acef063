/* cli/stalls.c - `jsprof stalls`: what kept the event loop.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/stalls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "filter.h"
#include "head.h"

enum { STALLS_LIMIT = 20, STALLS_OVER_NS = 16000000 };

static const char stalls_help[] =
    "usage: jsprof stalls [OPTION]... FILE\n"
    "\n"
    "Shows the turns of the event loop that took too long, the worst first, and why:\n"
    "a function ran, a collector ran, the thread was asleep in a call, or it waited\n"
    "for a processor. Stalls with the same cause, function and task are one row.\n"
    "\n"
    "  --over TIME      how long is too long (default 16ms, or the capture's limit)\n"
    "  --each           show every stall separately, with its time\n"
    "  --limit N        show at most N rows; 0 is all (default 20)\n"
    CLI_FORM_FOLLOW_HELP
    "\n"
    CLI_FILTER_HELP
    "\n"
    "CAUSE is what took most of the worst one; below it is the stack with most of\n"
    "that time, the root first. Only a recording of elapsed time sees threads wait.\n";

struct stalls {
    struct cli_capture capture;
    struct cli_filter filter;
    struct cli_form form;
    struct jsp_tasks tasks;
    struct jsp_stalls_found found;
    struct cli_head head;
    int64_t over;
    uint32_t limit;
    bool is_each;
    struct jsp_profile_frame *frames; /* owned; room for a stack */
};

struct stalls_row {
    const struct jsp_stall *worst;
    uint64_t n;
    int64_t total;
    const int64_t *parts;
    const char *stack; /* the root first, with ; between the functions */
};

/* -- Columns ---------------------------------------------------------------- */

static bool stalls_is_each(const void *of)
{
    return ((const struct stalls *)of)->is_each;
}

static bool stalls_is_grouped(const void *of)
{
    return !stalls_is_each(of);
}

static struct cli_cell stalls_n(CLI_OF_ROW)
{
    return cli_cell_u64(((const struct stalls_row *)row)->n);
}

static struct cli_cell stalls_ns(int64_t ns)
{
    return cli_cell_u64(ns > 0 ? (uint64_t)ns : 0);
}

static struct cli_cell stalls_worst(CLI_OF_ROW)
{
    return stalls_ns(((const struct stalls_row *)row)->worst->duration);
}

static struct cli_cell stalls_total(CLI_OF_ROW)
{
    return stalls_ns(((const struct stalls_row *)row)->total);
}

static struct cli_cell stalls_begin(CLI_OF_ROW)
{
    const struct stalls *s = of;
    const struct stalls_row *r = row;
    return cli_cell_time(r->worst->begin, s->capture.profile->start_time, 3);
}

static struct cli_cell stalls_cause(CLI_OF_ROW)
{
    return cli_cell_string(jsp_stall_causes[((const struct stalls_row *)row)->worst->cause]);
}

static struct cli_cell stalls_function(CLI_OF_ROW)
{
    const struct stalls *s = of;
    uint32_t function = ((const struct stalls_row *)row)->worst->function;
    return function == UINT32_MAX ? cli_cell_none()
                                  : cli_cell_string(s->capture.profile->functions[function].name);
}

/* Return the system call, or what the host waits for. */
static struct cli_cell stalls_call(CLI_OF_ROW)
{
    const struct stalls *s = of;
    const struct jsp_stall *worst = ((const struct stalls_row *)row)->worst;
    if (worst->cause != JSP_STALL_BLOCKING || worst->stack == UINT32_MAX)
        return cli_cell_none();
    struct jsp_read_text detail = jsp_profile_state(s->capture.profile, worst->stack)->detail;
    return detail.len ? cli_cell_text(detail) : cli_cell_none();
}

static struct cli_cell stalls_kind(CLI_OF_ROW)
{
    const struct stalls *s = of;
    uint32_t what = ((const struct stalls_row *)row)->worst->what;
    return what == JSP_TASK_NONE ? cli_cell_none() : cli_cell_text(s->tasks.whats[what].kind);
}

static struct cli_cell stalls_task(CLI_OF_ROW)
{
    const struct stalls *s = of;
    uint32_t what = ((const struct stalls_row *)row)->worst->what;
    return what == JSP_TASK_NONE ? cli_cell_none() : cli_cell_text(s->tasks.whats[what].name);
}

static struct cli_cell stalls_process(CLI_OF_ROW)
{
    const struct stalls *s = of;
    return cli_cell_i64(s->tasks.threads[((const struct stalls_row *)row)->worst->thread].pid);
}

static struct cli_cell stalls_thread(CLI_OF_ROW)
{
    const struct stalls *s = of;
    return cli_cell_i64(s->tasks.threads[((const struct stalls_row *)row)->worst->thread].tid);
}

/* The offset of the column is the cause. */
static struct cli_cell stalls_part(CLI_OF_ROW)
{
    return stalls_ns(((const struct stalls_row *)row)->parts[c->offset]);
}

static struct cli_cell stalls_open(CLI_OF_ROW)
{
    return cli_cell_bool(((const struct stalls_row *)row)->worst->is_open);
}

static int stalls_print(const struct cli_style *s, struct cli_cell text, int room)
{
    return text.is_none ? 0 : cli_name(s, text.text, room);
}

/* Print what took the time, then the task; and below them the stack. */
static void stalls_draw(const struct cli_table *t, const void *row, int room)
{
    const struct stalls *s = cli_table_of(t);
    const struct cli_style *style = cli_table_style(t);
    const struct stalls_row *r = row;
    struct cli_cell call = stalls_call(NULL, s, row), kind = stalls_kind(NULL, s, row);
    struct cli_cell function = stalls_function(NULL, s, row), task = stalls_task(NULL, s, row);
    int used = stalls_print(style, call, 0);
    used += call.is_none || function.is_none ? 0 : printf(" in ");
    used += stalls_print(style, function, room ? room - used : 0);
    if (r->worst->cause == JSP_STALL_UNKNOWN)
        used += printf("no sample says what");
    if (!kind.is_none && (!room || room - used > 24)) {
        cli_colour(style, CLI_DIM);
        used += printf("  in ");
        used += stalls_print(style, kind, room ? room - used : 0);
        putchar(' ');
        stalls_print(style, task, room ? room - used - 1 : 0);
        cli_colour(style, CLI_PLAIN);
    }
    if (r->stack && *r->stack) {
        cli_colour(style, CLI_DIM);
        fputs("\n    ", stdout);
        cli_name(style, cli_span(r->stack), style->columns ? style->columns - 4 : 0);
        cli_colour(style, CLI_PLAIN);
    }
}

#define STALLS_PART(cause, word, text)                                                       \
    { .name = word, .type = CLI_TYPE_NS, .get = stalls_part, .offset = cause, .means = text }

static const struct cli_column stalls_columns[] = {
    { .name = "stalls", .head = "COUNT", .type = CLI_TYPE_COUNT, .get = stalls_n, .place = 10,
      .width = 7, .when = stalls_is_grouped, .means = "How many stalls the row sums up." },
    { .name = "begin", .head = "BEGIN", .type = CLI_TYPE_TIME, .get = stalls_begin, .place = 15,
      .width = 11, .when = stalls_is_each,
      .means = "When the turn began, in nanoseconds since the start of the capture." },
    { .name = "worst_ns", .head = "WORST", .type = CLI_TYPE_EXACT_NS, .get = stalls_worst,
      .place = 20, .width = 9, .means = "The longest of them, in nanoseconds." },
    { .name = "total_ns", .head = "TOTAL", .type = CLI_TYPE_EXACT_NS, .get = stalls_total,
      .place = 30, .width = 9, .minimum = 60, .when = stalls_is_grouped,
      .means = "All of them together, in nanoseconds." },
    { .name = "cause", .head = "CAUSE", .type = CLI_TYPE_WORD, .get = stalls_cause,
      .place = 40, .width = -12, .words = jsp_stall_causes,
      .means = "What took most of the longest one." },
    { .name = "function", .head = "WHERE", .type = CLI_TYPE_TEXT, .get = stalls_function,
      .draw = stalls_draw, .place = 90, .least = 30, .may_lack = true,
      .means = "The VM's innermost function in most of that time; null: not known." },
    { .name = "call", .type = CLI_TYPE_TEXT, .get = stalls_call, .may_lack = true,
      .means = "The system call that blocked, or what the host waited for; null: none." },
    { .name = "kind", .type = CLI_TYPE_TEXT, .get = stalls_kind, .may_lack = true,
      .means = "The kind of the task that ran longest in the turn; null: none did." },
    { .name = "task", .type = CLI_TYPE_TEXT, .get = stalls_task, .may_lack = true,
      .means = "Its name." },
    { .name = "process", .type = CLI_TYPE_INTEGER, .get = stalls_process,
      .means = "The process of the longest one." },
    { .name = "thread", .type = CLI_TYPE_INTEGER, .get = stalls_thread, .means = "Its thread." },
    STALLS_PART(JSP_STALL_FUNCTION, "function_ns", "Time in functions."),
    STALLS_PART(JSP_STALL_COLLECTION, "collection_ns", "Time in collectors."),
    STALLS_PART(JSP_STALL_BLOCKING, "blocking_ns", "Time asleep."),
    STALLS_PART(JSP_STALL_PROCESSOR, "processor_ns", "Time without a processor."),
    STALLS_PART(JSP_STALL_UNKNOWN, "unknown_ns", "Time of which no sample says anything."),
    { .name = "is_open", .type = CLI_TYPE_BOOL, .get = stalls_open,
      .means = "The longest one had not ended: it took at least so long." },
    { .name = "stack", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      .offset = offsetof(struct stalls_row, stack),
      .means = "The stack with most of that time, the root first, joined by ;." },
    { 0 }
};

static const struct cli_document stalls_document = {
    .means = "Turns of an event loop that took too long, and what took the time.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "The stalls.", .columns = stalls_columns } },
};

/* -- Rows ------------------------------------------------------------------- */

/* Return the names of a stack, the root first, which the caller frees; or NULL. Direct recursion
 * is one name. */
static char *stalls_stack(struct stalls *s, uint32_t stack)
{
    struct jsp_profile *p = s->capture.profile;
    int n = stack == UINT32_MAX
                ? 0
                : jsp_select_frames(&s->capture.select, p, stack, s->frames);
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (cli_incomplete(!out || n < 0) && !out)
        return NULL;
    for (int i = n - 1; i >= 0; i--)
        if (i == n - 1 || s->frames[i].function != s->frames[i + 1].function)
            fprintf(out, "%s%s", i == n - 1 ? "" : ";", p->functions[s->frames[i].function].name);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* Print the line on how many turns there were. */
static void stalls_first_line(const struct stalls *s)
{
    const struct jsp_stalls_found *f = &s->found;
    const char *what = f->is_of_runs ? "outermost run" : "turn";
    char n[CLI_NUMBER], turns[CLI_NUMBER], over[CLI_NUMBER], longest[CLI_NUMBER];
    cli_exact_duration(over, (uint64_t)s->over);
    cli_exact_duration(longest, f->longest > 0 ? (uint64_t)f->longest : 0);
    if (f->n_stalls)
        printf("%s of %s %s%s took %s or longer · longest %s\n", cli_count(n, f->n_stalls),
               cli_count(turns, f->turns), what, cli_s(f->turns), over, longest);
    else if (f->turns)
        printf("No stall: none of %s %s%s took %s or longer · longest %s\n",
               cli_count(turns, f->turns), what, cli_s(f->turns), over, longest);
    else
        printf("No stall: no turns in what was chosen of this capture\n");
}

/* Print what the answer can not show. */
static void stalls_notes(const struct stalls *s)
{
    const struct jsp_profile *p = s->capture.profile;
    char limit[CLI_NUMBER];
    if (p->stall_ns)
        printf("The capture has only turns that took longer than %s.\n",
               cli_exact_duration(limit, p->stall_ns));
    if (s->found.n_stalls && !jsp_profile_has_states(p))
        cli_wrap(&s->capture.style, "This was recorded without the states of threads, so time "
                                    "asleep or without a processor has no cause here.");
    if (s->found.is_of_runs && s->found.turns)
        puts("The host reported no turns: each outermost run of a task counts as one.");
}

static int stalls_rows(struct stalls *s)
{
    bool is_text = cli_form_is_text(&s->form);
    const struct jsp_stalls_found *f = &s->found;
    uint32_t n = s->is_each ? f->n_stalls : f->n_groups;
    uint32_t shown = s->limit && s->limit < n ? s->limit : n;
    if (is_text)
        stalls_first_line(s);
    if (is_text && n)
        putchar('\n');
    if (!is_text && cli_head_of(&s->head, &s->capture))
        return CLI_FAILED;
    struct cli_table *t = is_text && !n ? NULL : cli_table_open(&(struct cli_show){
        .form = &s->form, .command = "stalls", .columns = stalls_columns,
        .document = &stalls_document, .head = &s->head, .of = s, .capture = &s->capture });
    for (uint32_t i = 0; t && i < shown; i++) {
        const struct jsp_stall_group *g = &f->groups[i];
        const struct jsp_stall *stall = &f->stalls[s->is_each ? i : g->worst];
        char *stack = stalls_stack(s, stall->stack);
        cli_table_row(t, &(struct stalls_row){
            .worst = stall, .n = s->is_each ? 1 : g->n,
            .total = s->is_each ? stall->duration : g->total,
            .parts = s->is_each ? stall->parts : g->parts, .stack = stack ? stack : "" });
        free(stack);
    }
    int status = is_text && !n ? CLI_OK : cli_table_close(t);
    if (is_text && n > shown)
        printf("%6s %" PRIu32 " more row%s (--limit 0 shows them)\n", "", n - shown,
               cli_s(n - shown));
    if (is_text)
        stalls_notes(s);
    return status;
}

static int stalls_show(struct stalls *s)
{
    const struct jsp_stalls_ask ask = { &s->capture.select, s->over };
    int err = jsp_tasks_read(&s->tasks, s->capture.profile);
    if (!err && !s->tasks.n_turns && !s->tasks.n_runs && !s->capture.profile->stall_ns)
        return cli_fail(s->capture.label, CLI_NO_TASKS);
    s->frames = malloc(JSP_PROFILE_DEPTH * sizeof *s->frames);
    if (!err)
        err = s->frames ? jsp_stalls_find(&s->found, &s->tasks, s->capture.profile, &ask)
                        : -ENOMEM;
    return err ? cli_fail(s->capture.label, "%s", strerror(-err)) : stalls_rows(s);
}

/* Read a time such as 50ms. */
static bool stalls_time(const char *word, int64_t *out)
{
    char span[64];
    uint64_t from = 0, to;
    int n = snprintf(span, sizeof span, "%s..", word);
    if (n < 0 || (size_t)n >= sizeof span || strstr(word, "..") ||
        !jsp_reader_time(span, &from, &to) || from == 0 || from > INT64_MAX)
        return false;
    *out = (int64_t)from;
    return true;
}

static int stalls_run(struct cli_arguments *a)
{
    const char *over = NULL;
    struct stalls s = { .limit = UINT32_MAX };
    const struct cli_option options[] = { { "over", NULL, &over, NULL },
                                          { "each", &s.is_each, NULL, NULL },
                                          { "limit", NULL, NULL, &s.limit },
                                          CLI_FORM_OPTIONS(&s.form),
                                          CLI_FILTER_OPTIONS(&s.filter),
                                          { 0 } };
    if (cli_options(a, options) || cli_form_check(a->command, &s.form))
        return CLI_USAGE;
    if (over && !stalls_time(over, &s.over))
        return cli_usage(a->command, "--over wants a time as in 50ms, not \"%s\"", over);
    s.filter.has_idle = true; /* a loop that waits inside a turn is a stall, too */
    int status = cli_filter_open(&s.capture, cli_one_file(a), &s.filter, a->command);
    if (status)
        return status;
    if (!over)
        s.over = s.capture.profile->stall_ns ? (int64_t)s.capture.profile->stall_ns
                                             : STALLS_OVER_NS;
    if (s.limit == UINT32_MAX) /* not given */
        s.limit = cli_form_is_text(&s.form) ? STALLS_LIMIT : 0;
    status = stalls_show(&s);
    free(s.frames);
    jsp_stalls_free(&s.found);
    jsp_tasks_free(&s.tasks);
    cli_close(&s.capture);
    return status;
}

const struct cli_command cli_stalls = {
    .name = "stalls",
    .summary = "turns of the event loop that took too long, and why",
    .help = stalls_help,
    .run = stalls_run,
    .is_followed = true,
    .documents = { &stalls_document },
};
