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

static struct cli_cell notes_ns(CLI_OF_ROW)
{
    const struct cli_calls *l = row;
    return cli_cell_u64(jsp_exact_ns(&l->calls, cli_get_u64(c, of, row).u64));
}

static const char *const notes_modes[] = { "counts", "time", "allocation", "edges", NULL };

#define NOTES_FIELD(field) .offset = offsetof(struct cli_calls, field)
#define NOTES_COUNT(column, field, text)                                                   \
    { .name = column, .type = CLI_TYPE_COUNT, .get = cli_get_u64,                            \
      NOTES_FIELD(calls.commit[field]), .means = text }
#define NOTES_NS(column, field, text)                                                      \
    { .name = column, .type = CLI_TYPE_EXACT_NS, .get = notes_ns,                          \
      NOTES_FIELD(calls.commit[field]), .means = text }

const struct cli_column cli_calls_summary[] = {
    { .name = "capture", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      NOTES_FIELD(capture.label),
      .means = "The capture as it was named, or \"standard input\"." },
    { .name = "command_line", .type = CLI_TYPE_TEXT, .get = cli_get_text, NOTES_FIELD(command),
      .means = "The command line of the process; empty where it is not known." },
    { .name = "process", .type = CLI_TYPE_INTEGER, .get = cli_get_i32, NOTES_FIELD(calls.pid),
      .means = "The number of the process." },
    { .name = "complete", .type = CLI_TYPE_BOOL, .get = cli_get_bool, NOTES_FIELD(is_over),
      .means = "The recording came to its end." },
    { .name = "counted", .type = CLI_TYPE_WORDS, .get = cli_get_u64,
      NOTES_FIELD(calls.modes), .words = notes_modes,
      .means = "What was counted at any time." },
    NOTES_COUNT("calls", JSP_WIRE_COMMIT_CALLS, "Calls of all functions."),
    NOTES_NS("inside_ns", JSP_WIRE_COMMIT_INSIDE, "Time in all functions."),
    NOTES_NS("own_cost_ns", JSP_WIRE_COMMIT_OWN,
               "The cost of counting, which no time includes."),
    NOTES_NS("gc_ns", JSP_WIRE_COMMIT_GC, "Garbage collection; a part of the functions."),
    NOTES_COUNT("bytes", JSP_WIRE_COMMIT_ALLOC, "Bytes that were allocated."),
    NOTES_COUNT("threads", JSP_WIRE_COMMIT_THREADS, "Threads that were counted."),
    NOTES_COUNT("threads_waiting", JSP_WIRE_COMMIT_WAITING,
                  "Threads that did not run since the last change of what is counted."),
    NOTES_COUNT("function_table_full", JSP_WIRE_COMMIT_FUNCTIONS_LOST,
                  "Calls of functions that the table had no room for."),
    NOTES_COUNT("edge_table_full", JSP_WIRE_COMMIT_EDGES_LOST,
                  "Calls over edges that the table had no room for."),
    NOTES_COUNT("too_deep", JSP_WIRE_COMMIT_DEPTH_LOST, "Calls too deep to be timed."),
    NOTES_COUNT("leaves_without_enter", JSP_WIRE_COMMIT_UNDERFLOWS,
                  "Functions that were left without having been entered."),
    NOTES_COUNT("foreign_events", JSP_WIRE_COMMIT_FOREIGN,
                  "Events of another thread, which were not counted."),
    NOTES_COUNT("clock_went_back", JSP_WIRE_COMMIT_CLOCK_BACK,
                  "Steps of the clock backwards, which count as 0."),
    NOTES_COUNT("clock_off_ppm", JSP_WIRE_COMMIT_CLOCK_OFF,
                  "How far the processor's counter was off, in parts per million."),
    NOTES_NS("own_cost_beyond_ns", JSP_WIRE_COMMIT_NEGATIVE,
               "The cost of counting beyond the time that was measured."),
    { 0 }
};

/* -- Text ------------------------------------------------------------------- */

void cli_calls_modes_text(char out[64], uint64_t modes)
{
    size_t used = 0;
    strcpy(out, "not known");
    for (int i = 0; i < 4; i++)
        if (modes >> i & 1)
            used += (size_t)snprintf(out + used, 64 - used, "%s%s", used ? ", " : "",
                                     notes_modes[i]);
}

static void notes_count(const struct cli_calls *c, enum jsp_wire_commit field,
                        const char *what, const char *consequence)
{
    char n[CLI_NUMBER];
    if (c->calls.commit[field])
        printf("%s: %s%s\n", what, cli_count(n, c->calls.commit[field]), consequence);
}

/* Print when the modes of counting changed, because the figures cover only these times. A last
 * change that only marks the end of the host does not count. */
static void notes_changes(const struct cli_calls *c)
{
    const struct jsp_exact *calls = &c->calls;
    uint32_t n = calls->n_changes;
    const struct jsp_exact_mode *last = n ? &calls->changes[n - 1] : NULL;
    if (last && !last->modes &&
        last->time + NOTES_END_NS > calls->commit[JSP_WIRE_COMMIT_TIME])
        n--;
    if (n < 2)
        return;
    fputs("Counted:", stdout);
    for (uint32_t i = 0; i < n && i < 4; i++) {
        char modes[64], time[CLI_NUMBER];
        uint64_t begin = (uint64_t)c->read.time, at = calls->changes[i].time;
        cli_calls_modes_text(modes, calls->changes[i].modes);
        printf("%s from %s %s", i ? "," : "", cli_exact_duration(time, at > begin ? at - begin : 0),
               calls->changes[i].modes ? modes : "nothing");
    }
    puts(n > 4 ? ", ..." : "");
}

void cli_calls_notes(const struct cli_calls *c)
{
    const uint64_t *commit = c->calls.commit;
    char time[CLI_NUMBER];
    putchar('\n');
    uint64_t begin = (uint64_t)c->read.time, at = commit[JSP_WIRE_COMMIT_TIME];
    if (!c->is_over)
        printf("Killed or still running: as of %s after the start\n",
               cli_exact_duration(time, at > begin ? at - begin : 0));
    if (c->calls.has_others)
        printf("Only calls of process %" PRId32 " are shown: others counted, too\n", c->calls.pid);
    notes_changes(c);
    notes_count(c, JSP_WIRE_COMMIT_WAITING, "Threads that did not run since the last change",
                "; their open calls are not counted yet");
    notes_count(c, JSP_WIRE_COMMIT_FUNCTIONS_LOST, "Calls of functions beyond the table",
                ", in [other functions]");
    notes_count(c, JSP_WIRE_COMMIT_EDGES_LOST,
                "Calls over edges that the table had no room for", "");
    notes_count(c, JSP_WIRE_COMMIT_DEPTH_LOST, "Calls too deep to be timed",
                "; their time counts for the innermost function kept");
    notes_count(c, JSP_WIRE_COMMIT_UNDERFLOWS, "Leaves without an enter", "");
    notes_count(c, JSP_WIRE_COMMIT_FOREIGN, "Events of another thread, not counted", "");
    notes_count(c, JSP_WIRE_COMMIT_CLOCK_BACK, "Times that the clock went back",
                "; 0 was taken");
    if (commit[JSP_WIRE_COMMIT_CLOCK_OFF] >= NOTES_CLOCK_OFF)
        printf("The processor's counter was off by %" PRIu64 " ppm: do not trust times\n",
               commit[JSP_WIRE_COMMIT_CLOCK_OFF]);
    if (commit[JSP_WIRE_COMMIT_NEGATIVE])
        printf("Estimated cost of counting beyond the measured time: %s, in rows shown as 0\n",
               cli_exact_duration(time, jsp_exact_ns(&c->calls, commit[JSP_WIRE_COMMIT_NEGATIVE])));
}
