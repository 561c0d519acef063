/* threads.c - choosing and describing the threads of a profile.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *cli_thread_name(const struct jsp_thread_info *t)
{
    return t->losses ? t->losses->name : "";
}

static bool threads_is(const struct jsp_thread_info *t, const char *which)
{
    char tid[CLI_NUMBER];
    snprintf(tid, sizeof tid, "%" PRId32, t->tid);
    return strcmp(tid, which) == 0 || strcmp(cli_thread_name(t), which) == 0;
}

static void threads_complain(const struct cli_capture *c, const char *which)
{
    char list[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < c->profile.n_threads && used < sizeof list; i++) {
        const struct jsp_thread_info *t = &c->profile.threads[i];
        char *name = cli_clean(&c->style, cli_span(cli_thread_name(t)));
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%" PRId32 "%s%s",
                                 i ? ", " : "", t->tid, name && *name ? " " : "",
                                 name ? name : "");
        free(name);
    }
    cli_fail(c->label, "no thread \"%s\" (there are: %s%s)", which, list,
             used >= sizeof list ? " ..." : "");
}

/* By number, by the whole command line, or by the last part of its first word. */
static bool threads_of(const struct jsp_profile *p, int32_t pid, const char *which)
{
    char number[CLI_NUMBER];
    struct jsp_read_text command = jsp_profile_command(p, pid);
    size_t n = strlen(which), end = 0, base = 0;
    snprintf(number, sizeof number, "%" PRId32, pid);
    if (strcmp(number, which) == 0)
        return true;
    if (n && command.len == n && memcmp(command.at, which, n) == 0)
        return true;
    for (; end < command.len && command.at[end] != ' '; end++)
        base = command.at[end] == '/' ? end + 1 : base;
    return n && end - base == n && memcmp(command.at + base, which, n) == 0;
}

static void threads_complain_process(const struct cli_capture *c, const char *which)
{
    const struct jsp_profile *p = &c->profile;
    char list[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < p->n_processes && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%" PRId32,
                                 i ? ", " : "", p->processes[i].pid);
    cli_fail(c->label, "no samples of a process \"%s\" (there are: %s%s)", which, list,
             used >= sizeof list ? " ..." : "");
}

bool cli_threads_choose(const struct cli_capture *c, const char *process,
                        const char *thread, bool **flags)
{
    const struct jsp_profile *p = &c->profile;
    bool any = false, any_process = !process;
    *flags = NULL;
    if (!thread && !process)
        return true;
    bool *chosen = calloc((size_t)p->n_threads + 1, sizeof *chosen);
    if (!chosen) {
        cli_fail(c->label, "%s", strerror(ENOMEM));
        return false;
    }
    for (uint32_t i = 0; i < p->n_threads; i++) {
        bool is_of = !process || threads_of(p, p->threads[i].pid, process);
        chosen[i] = is_of && (!thread || threads_is(&p->threads[i], thread));
        any_process |= is_of;
        any |= chosen[i];
    }
    if (!any) {
        free(chosen);
        if (any_process && thread)
            threads_complain(c, thread);
        else
            threads_complain_process(c, process ? process : "");
        return false;
    }
    *flags = chosen;
    return true;
}

const char *cli_unit_head(const struct jsp_profile *p)
{
    return p->unit == JSP_VALUE_COUNT ? "SAMPLES" : "TIME";
}

const char *cli_value(char out[CLI_NUMBER], const struct jsp_profile *p, uint64_t value)
{
    return p->unit == JSP_VALUE_COUNT ? cli_count(out, value) : cli_duration(out, value);
}

/* Of the first thread that counts. */
static struct cli_span threads_command(const struct jsp_profile *p, const bool *threads)
{
    uint32_t first = 0;
    while (threads && first + 1 < p->n_threads && !threads[first])
        first++;
    struct jsp_read_text command =
        jsp_profile_command(p, p->n_threads ? p->threads[first].pid : 0);
    return command.len ? (struct cli_span){ command.at, command.len } : cli_span(p->host);
}

static uint64_t threads_span(const struct jsp_profile *p)
{
    return p->last_time > p->first_time ? (uint64_t)p->last_time - (uint64_t)p->first_time
                                        : 0;
}

void cli_heading(const struct cli_capture *c)
{
    const bool *threads = c->threads;
    const struct jsp_profile *p = &c->profile;
    const struct cli_style *s = &c->style;
    const char *dot = s->is_utf8 ? " · " : ", ";
    char n[CLI_NUMBER], m[CLI_NUMBER];
    int room = s->columns;
    cli_colour(s, CLI_BOLD);
    cli_name(s, threads_command(p, threads), room);
    cli_colour(s, CLI_PLAIN);
    printf("\n%s samples", cli_count(n, p->samples));
    if (p->unit != JSP_VALUE_COUNT)
        printf("%s%s of %s", dot, cli_duration(n, p->value), jsp_unit_name(p->unit));
    printf(" in %s", cli_duration(m, threads_span(p)));
    if (p->hz)
        printf("%s%u Hz asked for", dot, p->hz);
    for (uint32_t i = 0, shown = 0; threads && i < p->n_threads; i++)
        if (threads[i] && !shown++) {
            printf("%sthread %" PRId32 " ", dot, p->threads[i].tid);
            cli_name(s, cli_span(cli_thread_name(&p->threads[i])), 24);
        }
    if (!threads && p->n_threads > 1)
        printf("%s%u threads", dot, p->n_threads);
    fputs("\n\n", stdout);
}

static void threads_lost(const struct jsp_profile *p)
{
    char n[CLI_NUMBER], m[CLI_NUMBER], share[CLI_NUMBER];
    struct jsp_account_verdict v;
    jsp_account_verdict(&p->account, &v);
    const struct jsp_account_thread *t = &v.sum;
    uint64_t lost = jsp_account_lost(t);
    if (p->account.n_threads == 0 && !v.is_total)
        return;
    printf("Lost: %s of %s timer expirations", cli_count(n, lost),
           cli_count(m, t->expirations));
    if (lost)
        printf(" (%s)", cli_percent(share, (double)lost / (double)t->expirations));
    for (int cause = 0, shown = 0; cause < JSP_N_LOSSES; cause++)
        if (t->lost[cause])
            printf("%s %s %s", shown++ ? "," : ":", jsp_losses[cause].name,
                   cli_count(n, t->lost[cause]));
    putchar('\n');
}

void cli_closing(const struct cli_capture *c, uint64_t samples, uint64_t value)
{
    const struct jsp_profile *p = &c->profile;
    char n[CLI_NUMBER], v[CLI_NUMBER];
    putchar('\n');
    if (p->unit == JSP_VALUE_COUNT)
        printf("100%% is %s samples; the capture %s.\n", cli_count(n, samples),
               p->clock[0] ? "does not say how much time each stands for" : "names no clock");
    else
        printf("100%% is %s of %s, in %s samples.\n", cli_value(v, p, value),
               jsp_unit_name(p->unit), cli_count(n, samples));
    threads_lost(p);
}
