/* cli/calls_notes.c - what the exact calls of a capture come to, and what limits the figures.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "calls.h"

enum {
    NOTES_CLOCK_OFF = 1000,  /* parts per million; times mislead from this deviation */
    NOTES_END_NS = 20000000, /* between a host's last change of modes and its last snapshot */
};

/* -- JSON ------------------------------------------------------------------- */

static const char *const notes_modes[] = { "counts", "time", "allocation", "edges", NULL };

#define NOTES_FIELD(field) .offset = offsetof(struct cli_calls, field)
#define NOTES_COUNT(column, field, text)                                                   \
    { .name = column, .type = CLI_TYPE_COUNT, .get = cli_get_u64,                            \
      NOTES_FIELD(sum.field), .means = text }
#define NOTES_NS(column, field, text)                                                        \
    { .name = column, .type = CLI_TYPE_EXACT_NS, .get = cli_get_u64,                         \
      NOTES_FIELD(sum.field), .means = text }

const struct cli_column cli_calls_summary[] = {
    { .name = "capture", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      NOTES_FIELD(capture.label),
      .means = "The capture as it was named, or \"standard input\"." },
    { .name = "command_line", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      NOTES_FIELD(sum.command),
      .means = "The command line of the process; empty where it is not known." },
    { .name = "process", .type = CLI_TYPE_INTEGER, .get = cli_get_i32, NOTES_FIELD(sum.process),
      .means = "The number of the process." },
    { .name = "complete", .type = CLI_TYPE_BOOL, .get = cli_get_bool, NOTES_FIELD(sum.is_over),
      .means = "The recording came to its end." },
    { .name = "counted", .type = CLI_TYPE_WORDS, .get = cli_get_u64,
      NOTES_FIELD(modes), .words = notes_modes,
      .means = "What was counted at any time." },
    NOTES_COUNT("calls", calls, "Calls of all functions."),
    NOTES_NS("inside_ns", inside_ns, "Time in all functions."),
    NOTES_NS("own_cost_ns", own_ns,
               "The cost of counting, which no time includes."),
    NOTES_NS("gc_ns", collector_ns, "Garbage collection; a part of the functions."),
    NOTES_COUNT("bytes", bytes, "Bytes that were allocated."),
    NOTES_COUNT("threads", threads, "Threads that were counted."),
    NOTES_COUNT("threads_waiting", threads_waiting,
                  "Threads that did not run since the last change of what is counted."),
    NOTES_COUNT("function_table_full", functions_lost,
                  "Calls of functions that the table had no room for."),
    NOTES_COUNT("edge_table_full", edges_lost,
                  "Calls over edges that the table had no room for."),
    NOTES_COUNT("too_deep", too_deep, "Calls too deep to be timed."),
    NOTES_COUNT("leaves_without_enter", underflows,
                  "Functions that were left without having been entered."),
    NOTES_COUNT("foreign_events", foreign,
                  "Events of another thread, which were not counted."),
    NOTES_COUNT("clock_went_back", clock_back,
                  "Steps of the clock backwards, which count as 0."),
    NOTES_COUNT("clock_off_ppm", clock_off_ppm,
                  "How far the processor's counter was off, in parts per million."),
    NOTES_NS("own_cost_beyond_ns", beyond_ns,
               "The cost of counting beyond the time that was measured."),
    { 0 }
};

/* -- Text ------------------------------------------------------------------- */

uint64_t cli_calls_modes(bool counts, bool time, bool bytes, bool edges)
{
    return (counts ? CLI_CALLS_COUNTS : 0u) | (time ? CLI_CALLS_TIME : 0u) |
           (bytes ? CLI_CALLS_BYTES : 0u) | (edges ? CLI_CALLS_EDGES : 0u);
}

void cli_calls_modes_text(char out[64], uint64_t modes)
{
    size_t used = 0;
    strcpy(out, "not known");
    for (int i = 0; i < 4; i++)
        if (modes >> i & 1)
            used += (size_t)snprintf(out + used, 64 - used, "%s%s", used ? ", " : "",
                                     notes_modes[i]);
}

static void notes_count(uint64_t count, const char *what, const char *consequence)
{
    char n[CLI_NUMBER];
    if (count)
        printf("%s: %s%s\n", what, cli_count(n, count), consequence);
}

static uint64_t notes_modes_of(const jsprof_read_counting *c)
{
    return cli_calls_modes(c->has_counts, c->has_time, c->has_bytes, c->has_edges);
}

static uint64_t notes_at(const struct cli_calls *c, int64_t time)
{
    return (uint64_t)time + (uint64_t)c->capture.info.start;
}

/* Return the time since the one that the header has. */
static uint64_t notes_since(const struct cli_calls *c, int64_t time)
{
    uint64_t at = notes_at(c, time), begin = (uint64_t)c->capture.info.header_start;
    return at > begin ? at - begin : 0;
}

/* Return the first change that the recording has seen, or the last one before it. */
static uint64_t notes_first(const struct cli_calls *c, uint64_t n)
{
    jsprof_read_counting next = { .size = sizeof next };
    uint64_t first = 0;
    while (first + 1 < n && jsprof_read_countings(c->calls, first + 1, &next, 1) == 1 &&
           !notes_since(c, next.time))
        first++;
    return first;
}

/* Print when the modes of counting changed, because the figures cover only these times. A last
 * change that only marks the end of the host does not count. */
static void notes_changes(const struct cli_calls *c)
{
    jsprof_read_counting last = { .size = sizeof last };
    uint64_t n = (uint64_t)jsprof_read_countings(c->calls, 0, NULL, 0);
    if (n && jsprof_read_countings(c->calls, n - 1, &last, 1) == 1 && !notes_modes_of(&last) &&
        notes_since(c, last.time) &&
        notes_at(c, last.time) + NOTES_END_NS > notes_at(c, c->sum.time))
        n--;
    uint64_t first = notes_first(c, n);
    if (n - first < 2) {
        jsprof_read_countings(c->calls, first, &last, 1);
        if (n >= 2 && !notes_modes_of(&last))
            puts("Counted: before the recording; in it, nothing");
        return;
    }
    fputs("Counted:", stdout);
    for (uint64_t i = first; i < n && i < first + 4; i++) {
        char words[64], time[CLI_NUMBER];
        jsprof_read_countings(c->calls, i, &last, 1);
        uint64_t modes = notes_modes_of(&last);
        cli_calls_modes_text(words, modes);
        printf("%s from %s %s", i > first ? "," : "",
               cli_exact_duration(time, notes_since(c, last.time)), modes ? words : "nothing");
    }
    puts(n - first > 4 ? ", ..." : "");
}

void cli_calls_notes(const struct cli_calls *c)
{
    const jsprof_read_counted *sum = &c->sum;
    char time[CLI_NUMBER];
    putchar('\n');
    if (!sum->is_over)
        printf("Killed or still running: as of %s after the start\n",
               cli_exact_duration(time, notes_since(c, sum->time)));
    if (sum->has_others)
        printf("Only calls of process %" PRId32 " are shown: others counted, too\n",
               sum->process);
    notes_changes(c);
    notes_count(sum->threads_waiting, "Threads that did not run since the last change",
                "; their open calls are not counted yet");
    notes_count(sum->functions_lost, "Calls of functions beyond the table",
                ", in [other functions]");
    notes_count(sum->edges_lost, "Calls over edges that the table had no room for", "");
    notes_count(sum->too_deep, "Calls too deep to be timed",
                "; their time counts for the innermost function kept");
    notes_count(sum->underflows, "Leaves without an enter", "");
    notes_count(sum->foreign, "Events of another thread, not counted", "");
    notes_count(sum->clock_back, "Times that the clock went back", "; 0 was taken");
    if (sum->clock_off_ppm >= NOTES_CLOCK_OFF)
        printf("The processor's counter was off by %" PRIu64 " ppm: do not trust times\n",
               sum->clock_off_ppm);
    if (sum->beyond_ns)
        printf("Estimated cost of counting beyond the measured time: %s, in rows shown as 0\n",
               cli_exact_duration(time, sum->beyond_ns));
}
