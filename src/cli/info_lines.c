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

static double info_seconds(const struct jsp_profile *p, int64_t end)
{
    int64_t start = p->capture->time ? p->capture->time : p->first_time;
    return end > start ? ((double)end - (double)start) / 1e9 : 0;
}

void cli_info_processes(const struct cli_capture *c, const char *label)
{
    const struct jsp_profile *p = c->profile;
    const struct cli_style *s = &c->style;
    enum { MOST = 8 };
    for (uint32_t i = 0; i < p->n_processes && i < MOST; i++) {
        char pid[CLI_NUMBER];
        snprintf(pid, sizeof pid, "%" PRId32 "  ", p->processes[i].pid);
        struct jsp_read_text command = p->processes[i].command;
        cli_label(s, i ? "" : label);
        fputs(pid, stdout);
        if (command.len)
            cli_name(s, (struct cli_span){ command.at, command.len },
                     s->columns ? info_room(s) - (int)strlen(pid) : 0);
        putchar('\n');
    }
    if (p->n_processes > MOST) {
        cli_label(s, "");
        printf("and %u more\n", p->n_processes - MOST);
    }
}

void cli_info_recorder(const struct cli_capture *c, const char *label)
{
    const struct jsp_profile *p = c->profile;
    const struct cli_style *s = &c->style;
    cli_label(s, label);
    if (p->version[0]) {
        fputs("jsprof ", stdout);
        cli_name(s, cli_span(p->version), 24);
        fputs(p->host[0] ? " in " : "", stdout);
        cli_name(s, cli_span(p->host), s->columns ? info_room(s) - 40 : 0);
        fputs(p->is_relayed ? ", into another program's recording" : "", stdout);
    } else {
        fputs("another program (records no clock, rate or losses)", stdout);
    }
    putchar('\n');
}

void cli_info_recorded(const struct cli_capture *c, const char *label)
{
    const struct jsp_profile *p = c->profile;
    const struct cli_style *s = &c->style;
    int64_t end = p->capture->end_time > p->last_time ? p->capture->end_time : p->last_time;
    struct jsp_account_verdict v;
    jsp_account_verdict(&p->account, &v);
    bool is_ours = p->account.session.present || (p->version[0] && !p->is_relayed);
    bool is_final = is_ours ? strcmp(v.state, "final") == 0 : p->capture->end_time != 0;
    cli_label(s, label);
    if (p->capture->capture_time[0]) {
        cli_name(s, cli_span(p->capture->capture_time), 24);
        fputs(!is_final && s->columns && s->columns < INFO_WIDE ? ",\n             " : ", ",
              stdout);
    }
    if (is_final)
        printf("%.2f s", info_seconds(p, end));
    cli_colour(s, CLI_WARM);
    /* Print what the file lacks. A recording that was killed has no end, but is complete up to
     * its last flush. */
    bool is_partial = !is_final || (is_ours && !v.is_whole);
    double last = info_seconds(p, p->last_time);
    if (is_partial && is_final)
        printf("; incomplete, nothing of it is in the file after %.2f s", last);
    else if (is_partial)
        printf("killed or still running; complete up to %.2f s", last);
    if (is_partial && v.write_error)
        printf(": %s", jsprof_strerror((int)-v.write_error));
    cli_colour(s, CLI_PLAIN);
    putchar('\n');
}

void cli_info_clock(const struct cli_capture *c, const char *label)
{
    const struct jsp_profile *p = c->profile;
    if (!p->hz)
        return;
    cli_label(&c->style, label);
    const struct jsp_clock_row *clock = p->driver ? p->driver : &jsp_clocks[JSP_CLOCK_CPU];
    printf("%s: %s, %u Hz asked for\n", clock->key, clock->meaning, p->hz);
}

void cli_info_allocations(const struct cli_capture *c, const char *label)
{
    if (!c->profile->heap.n_allocated && !c->profile->heap.every)
        return;
    cli_label(&c->style, label);
    cli_allocations(c->profile);
}

void cli_info_samples(const struct cli_capture *c, const char *label)
{
    const struct jsp_profile *p = c->profile;
    char samples[CLI_NUMBER], weight[CLI_NUMBER], stacks[CLI_NUMBER];
    cli_label(&c->style, label);
    printf("%s", cli_count(samples, p->samples));
    if (p->weight != p->samples)
        printf(" for %s timer expiration%s", cli_count(weight, p->weight), cli_s(p->weight));
    printf(", %s different stack%s", cli_count(stacks, p->n_stacks), cli_s(p->n_stacks));
    if (p->fold_ns)
        printf(", folded in segments of %g s", (double)p->fold_ns / 1e9);
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
static uint64_t info_sum(const struct jsp_account *a, size_t offset)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < a->n_threads; i++)
        sum += *(const uint64_t *)((const char *)&a->threads[i] + offset);
    return sum;
}

void cli_info_stops(const struct cli_capture *c, const char *label)
{
    static const struct {
        const char *what;
        size_t offset;
    } causes[] = {
        { "whole", offsetof(struct jsp_account_thread, stop_end) },
        { "were too deep", offsetof(struct jsp_account_thread, stop_full) },
        { "ended in code without tables",
          offsetof(struct jsp_account_thread, stop_no_table) },
        { "ended where the stack made no sense",
          offsetof(struct jsp_account_thread, stop_stack) },
        { "ended at unreadable memory",
          offsetof(struct jsp_account_thread, stop_unreadable) },
        { "ended at a rule that was not understood",
          offsetof(struct jsp_account_thread, stop_rule) },
    };
    enum { CAUSES = sizeof causes / sizeof *causes };
    const struct jsp_account *a = &c->profile->account;
    uint64_t sums[CAUSES], all = 0;
    char share[CLI_NUMBER];
    for (int j = 0; j < CAUSES; j++)
        all += sums[j] = info_sum(a, causes[j].offset);
    if (all == 0)
        return;
    cli_label(&c->style, label);
    for (int j = 0; j < CAUSES; j++)
        if (sums[j] || j == 0)
            printf("%s%s %s", j ? ", " : "",
                   info_share(share, (double)sums[j] / (double)all), causes[j].what);
    putchar('\n');
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
    if (!jsp_profile_has_states(c->profile))
        return;
    cli_label(&c->style, label);
    cli_info_by_state(c->profile->by_state);
}

/* Print how many children the recording did not follow. */
void cli_info_forks(const struct cli_capture *c, const char *label)
{
    char text[CLI_NUMBER];
    uint64_t n = c->profile->account.session.forks;
    if (!n)
        return;
    cli_label(&c->style, label);
    printf("%s forked and not recorded; JSPROF_CHILDREN=1 records each into a file of its own\n",
           cli_count(text, n));
}

/* Print how many frames of the host made no sense. */
void cli_info_bad(const struct cli_capture *c, const char *label)
{
    char text[CLI_NUMBER];
    uint64_t n = info_sum(&c->profile->account, offsetof(struct jsp_account_thread, frames_bad));
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
    const struct jsp_account_session *s = &c->profile->account.session;
    const struct info_cause causes[] = {
        { s->labels_lost, "frame", "frames", "without a name, the table was full" },
        { s->labels_cut, "name", "names", "cut" },
        { s->addresses_missed, "C address", "C addresses",
          "without a name, too many different ones" },
    };
    info_causes(c, label, causes, sizeof causes / sizeof *causes);
}

/* Print what became of labels that samples lack. */
void cli_info_labels(const struct cli_capture *c, const char *label)
{
    const struct jsp_account *a = &c->profile->account;
    const struct info_cause causes[] = {
        { info_sum(a, offsetof(struct jsp_account_thread, tags_full)), "", "",
          "not set, no room" },
        { info_sum(a, offsetof(struct jsp_account_thread, tags_cut)), "", "", "cut" },
        { a->session.tags_bad, "", "", "not UTF-8" },
        { a->session.tags_stray, "", "", "on another thread" },
        { info_sum(a, offsetof(struct jsp_account_thread, tags_foreign)), "", "",
          "in a signal handler" },
        { info_sum(a, offsetof(struct jsp_account_thread, tags_unmatched)), "", "",
          "ended twice" },
        { a->session.tags_unwritten, "", "", "not written" },
    };
    info_causes(c, label, causes, sizeof causes / sizeof *causes);
}

/* Print how many marks and counter values the file lacks. */
void cli_info_marks(const struct cli_capture *c, const char *label)
{
    char text[CLI_NUMBER];
    uint64_t n = c->profile->account.session.marks_lost;
    if (!n)
        return;
    cli_label(&c->style, label);
    printf("%s mark%s or counter value%s lost, the queue was full\n",
           cli_count(text, n), cli_s(n), cli_s(n));
}

const char *const cli_info_forms[] = { "plain", "compact", "partly compact", NULL };

const char *cli_info_form_of(const struct jsp_profile *p)
{
    return cli_info_forms[!p->packed ? 0 : p->packed == p->samples ? 1 : 2];
}

void cli_info_form(const struct cli_capture *c, const char *label)
{
    char size[CLI_NUMBER];
    cli_label(&c->style, label);
    printf("%s byte%s, %s-endian, %s\n", cli_count(size, c->read->size), cli_s(c->read->size),
           (c->read->bytes[5] & 1) ? "little" : "big", cli_info_form_of(c->profile));
}
