/* cli/info_lines.c - what `jsprof info` prints of a whole capture, line by line.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "head.h"
#include "info.h"
#include "jsprof.h"

enum { INFO_WIDE = 100 }; /* columns of a terminal on which a time and what is missing after
                           * it fit into one line */

static int info_room(const struct cli_style *s)
{
    return s->columns ? s->columns - CLI_LABEL : 0;
}

/* Return the seconds from the start to a time of the recorder's clock. */
static double info_seconds(const struct cli_capture *c, int64_t end)
{
    int64_t header = c->info.header_start, start = header ? header : cli_when(c, c->info.first);
    return end > start ? ((double)end - (double)start) / 1e9 : 0;
}

void cli_info_processes(const struct cli_capture *c, const char *label)
{
    const struct cli_style *s = &c->style;
    jsprof_read_process p = { .size = sizeof p };
    enum { MOST = 8 };
    int64_t n = jsprof_read_processes(c->reader, 0, NULL, 0);
    for (uint64_t i = 0; i < MOST && i < (uint64_t)n; i++) {
        if (cli_incomplete(jsprof_read_processes(c->reader, i, &p, 1) < 0))
            return;
        char pid[CLI_NUMBER];
        snprintf(pid, sizeof pid, "%" PRId32 "  ", p.pid);
        cli_label(s, i ? "" : label);
        fputs(pid, stdout);
        if (*p.command)
            cli_name(s, cli_span(p.command),
                     s->columns ? info_room(s) - (int)strlen(pid) : 0);
        putchar('\n');
    }
    if (n > MOST) {
        cli_label(s, "");
        printf("and %d more\n", (int)n - MOST);
    }
}

void cli_info_recorder(const struct cli_capture *c, const char *label)
{
    const jsprof_read_info *info = &c->info;
    const struct cli_style *s = &c->style;
    cli_label(s, label);
    if (*info->version) {
        fputs("jsprof ", stdout);
        cli_name(s, cli_span(info->version), 24);
        fputs(*info->host ? " in " : "", stdout);
        cli_name(s, cli_span(info->host), s->columns ? info_room(s) - 40 : 0);
        fputs(info->is_relayed ? ", into another program's recording" : "", stdout);
    } else {
        fputs("another program (records no clock, rate or losses)", stdout);
    }
    putchar('\n');
}

void cli_info_recorded(const struct cli_capture *c, const char *label)
{
    const jsprof_read_info *info = &c->info;
    const struct cli_style *s = &c->style;
    jsprof_read_session session = { .size = sizeof session };
    int64_t last_time = cli_when(c, info->last);
    int64_t end = info->header_end > last_time ? info->header_end : last_time;
    jsprof_read_session_of(c->reader, &session, NULL);
    bool is_ours = session.is_there || (*info->version && !info->is_relayed);
    bool is_final = is_ours ? strcmp(info->state, "final") == 0 : info->header_end != 0;
    cli_label(s, label);
    if (*info->capture_time) {
        cli_name(s, cli_span(info->capture_time), 24);
        fputs(!is_final && s->columns && s->columns < INFO_WIDE ? ",\n             " : ", ",
              stdout);
    }
    if (is_final)
        printf("%.2f s", info_seconds(c, end));
    cli_colour(s, CLI_WARM);
    /* Print what the file lacks. A recording that was killed has no end, but is complete up to
     * its last flush. */
    bool is_partial = info->lacks_end || (!is_ours && !info->samples && end > last_time);
    double last = info_seconds(c, last_time);
    if (is_partial && is_final)
        printf("; incomplete, nothing of it is in the file after %.2f s", last);
    else if (is_partial)
        printf("killed or still running; complete up to %.2f s", last);
    if (is_partial && info->write_error)
        printf(": %s", jsprof_strerror(-info->write_error));
    cli_colour(s, CLI_PLAIN);
    putchar('\n');
}

void cli_info_clock(const struct cli_capture *c, const char *label)
{
    if (!c->info.hz)
        return;
    cli_label(&c->style, label);
    const struct jsp_clock_row *clock = jsp_clock_find(c->info.clock);
    if (!clock)
        clock = &jsp_clocks[JSP_CLOCK_CPU];
    printf("%s: %s, %u Hz asked for\n", clock->key, clock->meaning, c->info.hz);
}

void cli_info_allocations(const struct cli_capture *c, const char *label)
{
    if (!c->info.allocated && !c->info.alloc_every)
        return;
    cli_label(&c->style, label);
    cli_allocations(c);
}

void cli_info_samples(const struct cli_capture *c, const char *label)
{
    const jsprof_read_info *info = &c->info;
    char samples[CLI_NUMBER], weight[CLI_NUMBER], stacks[CLI_NUMBER];
    cli_label(&c->style, label);
    printf("%s", cli_count(samples, info->samples));
    if (info->weight != info->samples)
        printf(" for %s timer expiration%s", cli_count(weight, info->weight),
               cli_s(info->weight));
    printf(", %s different stack%s", cli_count(stacks, info->stacks), cli_s(info->stacks));
    if (info->fold_ns)
        printf(", folded in segments of %g s", (double)info->fold_ns / 1e9);
    putchar('\n');
}

/* Do not round a share up to all or down to nothing. */
static const char *info_share(char out[CLI_NUMBER], double share)
{
    if (share > 0 && share < 0.0005)
        return "<0.1%";
    return share < 1 && share > 0.9995 ? ">99.9%" : cli_percent(out, share);
}

/* Add up the count at this offset over all threads. */
static uint64_t info_sum(const struct cli_capture *c, size_t offset)
{
    jsprof_read_account a = { .size = sizeof a };
    uint64_t sum = 0;
    for (uint64_t i = 0; jsprof_read_accounts(c->reader, i, &a, 1) == 1; i++)
        sum += *(const uint64_t *)((const char *)&a + offset);
    return sum;
}

void cli_info_stops(const struct cli_capture *c, const char *label)
{
    static const struct {
        const char *what;
        size_t offset;
    } causes[] = {
        { "whole", offsetof(jsprof_read_account, walks_whole) },
        { "were too deep", offsetof(jsprof_read_account, walks_full) },
        { "ended in code without tables",
          offsetof(jsprof_read_account, walks_no_table) },
        { "ended where the stack made no sense",
          offsetof(jsprof_read_account, walks_stack) },
        { "ended at unreadable memory",
          offsetof(jsprof_read_account, walks_unreadable) },
        { "ended at a rule that was not understood",
          offsetof(jsprof_read_account, walks_rule) },
    };
    enum { CAUSES = sizeof causes / sizeof *causes };
    uint64_t sums[CAUSES], all = 0;
    char share[CLI_NUMBER];
    for (int j = 0; j < CAUSES; j++)
        all += sums[j] = info_sum(c, causes[j].offset);
    if (all == 0)
        return;
    cli_label(&c->style, label);
    for (int j = 0; j < CAUSES; j++)
        if (sums[j] || j == 0)
            printf("%s%s %s", j ? ", " : "",
                   info_share(share, (double)sums[j] / (double)all), causes[j].what);
    putchar('\n');
}

void cli_info_states_add(uint64_t by_state[JSP_N_STATES], const jsprof_read_thread *t)
{
    by_state[JSP_STATE_UNKNOWN] += t->unknown;
    by_state[JSP_STATE_RUNNING] += t->running;
    by_state[JSP_STATE_WAITING] += t->waiting;
    by_state[JSP_STATE_ASLEEP] += t->asleep;
    by_state[JSP_STATE_HOST] += t->in_host;
    by_state[JSP_STATE_STOPPED] += t->stopped;
}

void cli_info_by_state(const uint64_t by_state[JSP_N_STATES])
{
    uint64_t all = 0;
    char share[CLI_NUMBER];
    int shown = 0;
    for (int i = 0; i < JSP_N_STATES; i++)
        all += by_state[i];
    for (int i = 0; i < JSP_N_STATES; i++)
        if (by_state[i])
            printf("%s%s %s", shown++ ? ", " : "",
                   info_share(share, (double)by_state[i] / (double)all), jsp_states[i].name);
    putchar('\n');
}

/* Print what the threads were doing. */
void cli_info_states(const struct cli_capture *c, const char *label)
{
    uint64_t by_state[JSP_N_STATES] = { 0 };
    jsprof_read_thread t = { .size = sizeof t };
    if (!c->info.has_states)
        return;
    for (uint64_t i = 0; jsprof_read_threads(c->reader, i, &t, 1) == 1; i++)
        cli_info_states_add(by_state, &t);
    cli_label(&c->style, label);
    cli_info_by_state(by_state);
}

/* Print how many children the recording did not follow. */
void cli_info_forks(const struct cli_capture *c, const char *label)
{
    char text[CLI_NUMBER];
    jsprof_read_session session = { .size = sizeof session };
    jsprof_read_session_of(c->reader, &session, NULL);
    if (!session.forks)
        return;
    cli_label(&c->style, label);
    printf("%s forked and not recorded; JSPROF_CHILDREN=1 records each into a file of its own\n",
           cli_count(text, session.forks));
}

/* Print how many frames of the host made no sense. */
void cli_info_bad(const struct cli_capture *c, const char *label)
{
    char text[CLI_NUMBER];
    uint64_t n = info_sum(c, offsetof(jsprof_read_account, frames_bad));
    if (!n)
        return;
    cli_label(&c->style, label);
    printf("%s made no sense: entered in a function that has returned, left by a "
           "longjmp, or nameless; their order may be wrong\n", cli_count(text, n));
}

struct info_cause {
    uint64_t n;
    const char *one, *many, *how; /* one and many may be "" */
};

/* Print how many there were of each cause, in one line, if there were any. */
static void info_causes(const struct cli_capture *c, const char *label,
                        const struct info_cause *causes, size_t n_causes)
{
    char n[CLI_NUMBER];
    int shown = 0;
    for (const struct info_cause *at = causes; at < causes + n_causes; at++) {
        const char *what = at->n == 1 ? at->one : at->many;
        if (!at->n)
            continue;
        if (!shown)
            cli_label(&c->style, label);
        printf("%s%s%s%s %s", shown++ ? ", " : "", cli_count(n, at->n), *what ? " " : "", what,
               at->how);
    }
    if (shown)
        putchar('\n');
}

/* Print which names the file lacks. */
void cli_info_names(const struct cli_capture *c, const char *label)
{
    jsprof_read_session s = { .size = sizeof s };
    jsprof_read_session_of(c->reader, &s, NULL);
    const struct info_cause causes[] = {
        { s.names_lost, "frame", "frames", "without a name, the table was full" },
        { s.names_cut, "name", "names", "cut" },
        { s.addresses_lost, "C address", "C addresses",
          "without a name, too many different ones" },
    };
    info_causes(c, label, causes, sizeof causes / sizeof *causes);
}

/* Print what became of labels that samples lack. */
void cli_info_labels(const struct cli_capture *c, const char *label)
{
    jsprof_read_session s = { .size = sizeof s };
    jsprof_read_session_of(c->reader, &s, NULL);
    const struct info_cause causes[] = {
        { info_sum(c, offsetof(jsprof_read_account, labels_full)), "", "",
          "not set, no room" },
        { info_sum(c, offsetof(jsprof_read_account, labels_cut)), "", "", "cut" },
        { s.labels_bad, "", "", "not UTF-8" },
        { s.labels_stray, "", "", "on another thread" },
        { info_sum(c, offsetof(jsprof_read_account, labels_foreign)), "", "",
          "in a signal handler" },
        { info_sum(c, offsetof(jsprof_read_account, labels_unmatched)), "", "",
          "ended twice" },
        { s.labels_lost, "", "", "not written" },
    };
    info_causes(c, label, causes, sizeof causes / sizeof *causes);
}

/* Print how many marks and counter values the file lacks. */
void cli_info_marks(const struct cli_capture *c, const char *label)
{
    char text[CLI_NUMBER];
    uint64_t n = c->info.marks_lost;
    if (!n)
        return;
    cli_label(&c->style, label);
    printf("%s mark%s or counter value%s lost, the queue was full\n",
           cli_count(text, n), cli_s(n), cli_s(n));
}

const char *const cli_info_forms[] = { "plain", "compact", "partly compact", NULL };

const char *cli_info_form_of(const struct cli_capture *c)
{
    const jsprof_read_info *info = &c->info;
    return cli_info_forms[!info->packed ? 0 : info->packed == info->samples ? 1 : 2];
}

void cli_info_form(const struct cli_capture *c, const char *label)
{
    char size[CLI_NUMBER];
    cli_label(&c->style, label);
    printf("%s byte%s, %s-endian, %s\n", cli_count(size, c->info.n_bytes), cli_s(c->info.n_bytes),
           c->info.is_little_endian ? "little" : "big", cli_info_form_of(c));
}
