/* cli/calls_summary.c - what the exact calls of a capture come to, for JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls.h"

static struct cli_cell summary_ns(CLI_OF_ROW)
{
    const struct cli_calls *l = row;
    return cli_cell_u64(jsp_exact_ns(&l->calls, cli_get_u64(c, of, row).u64));
}

const char *const cli_calls_modes[] = { "counts", "time", "allocation", "edges", NULL };

#define SUMMARY_FIELD(field) .offset = offsetof(struct cli_calls, field)
#define SUMMARY_COUNT(column, field, text)                                                   \
    { .name = column, .type = CLI_TYPE_COUNT, .get = cli_get_u64,                            \
      SUMMARY_FIELD(calls.commit[field]), .means = text }
#define SUMMARY_NS(column, field, text)                                                      \
    { .name = column, .type = CLI_TYPE_EXACT_NS, .get = summary_ns,                          \
      SUMMARY_FIELD(calls.commit[field]), .means = text }

const struct cli_column cli_calls_summary[] = {
    { .name = "capture", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      SUMMARY_FIELD(capture.label),
      .means = "The capture as it was named, or \"standard input\"." },
    { .name = "command_line", .type = CLI_TYPE_TEXT, .get = cli_get_text, SUMMARY_FIELD(command),
      .means = "The command line of the process; empty where it is not known." },
    { .name = "process", .type = CLI_TYPE_INTEGER, .get = cli_get_i32, SUMMARY_FIELD(calls.pid),
      .means = "The number of the process." },
    { .name = "complete", .type = CLI_TYPE_BOOL, .get = cli_get_bool, SUMMARY_FIELD(is_over),
      .means = "The recording came to its end." },
    { .name = "counted", .type = CLI_TYPE_WORDS, .get = cli_get_u64,
      SUMMARY_FIELD(calls.modes), .words = cli_calls_modes,
      .means = "What was counted at any time." },
    SUMMARY_COUNT("calls", JSP_WIRE_COMMIT_CALLS, "Calls of all functions."),
    SUMMARY_NS("inside_ns", JSP_WIRE_COMMIT_INSIDE, "Time in all functions."),
    SUMMARY_NS("own_cost_ns", JSP_WIRE_COMMIT_OWN,
               "The cost of counting, which no time includes."),
    SUMMARY_NS("gc_ns", JSP_WIRE_COMMIT_GC, "Garbage collection; a part of the functions."),
    SUMMARY_COUNT("bytes", JSP_WIRE_COMMIT_ALLOC, "Bytes that were allocated."),
    SUMMARY_COUNT("threads", JSP_WIRE_COMMIT_THREADS, "Threads that were counted."),
    SUMMARY_COUNT("threads_waiting", JSP_WIRE_COMMIT_WAITING,
                  "Threads that did not run since the last change of what is counted."),
    SUMMARY_COUNT("function_table_full", JSP_WIRE_COMMIT_FUNCTIONS_LOST,
                  "Calls of functions that the table had no room for."),
    SUMMARY_COUNT("edge_table_full", JSP_WIRE_COMMIT_EDGES_LOST,
                  "Calls over edges that the table had no room for."),
    SUMMARY_COUNT("too_deep", JSP_WIRE_COMMIT_DEPTH_LOST, "Calls too deep to be timed."),
    SUMMARY_COUNT("leaves_without_enter", JSP_WIRE_COMMIT_UNDERFLOWS,
                  "Functions that were left without having been entered."),
    SUMMARY_COUNT("foreign_events", JSP_WIRE_COMMIT_FOREIGN,
                  "Events of another thread, which were not counted."),
    SUMMARY_COUNT("clock_went_back", JSP_WIRE_COMMIT_CLOCK_BACK,
                  "Steps of the clock backwards, which count as 0."),
    SUMMARY_COUNT("clock_off_ppm", JSP_WIRE_COMMIT_CLOCK_OFF,
                  "How far the processor's counter was off, in parts per million."),
    SUMMARY_NS("own_cost_beyond_ns", JSP_WIRE_COMMIT_NEGATIVE,
               "The cost of counting beyond the time that was measured."),
    { 0 }
};
