/* cli/head.c - the head of an answer, and its end: which capture, and how much of it counts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "head.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "base/clocks.h"
#include "options.h"

int cli_head_of(struct cli_head *out, struct cli_capture *c)
{
    struct cli_functions functions;
    int status = cli_functions_open(&functions, c, NULL);
    *out = (struct cli_head){ c, functions.sum.samples, functions.sum.value };
    cli_functions_free(&functions);
    return status;
}

/* -- JSON ------------------------------------------------------------------- */

static struct cli_cell head_capture(CLI_OF_ROW)
{
    const struct cli_head *h = row;
    return cli_cell_string(h->capture->label);
}

#define HEAD_UNIT(CLOCK, key, unit, name, meaning) unit,
const char *const cli_head_units[] = { JSP_CLOCKS(HEAD_UNIT) "samples", "alloc_bytes",
                                         "live_bytes", NULL };

static struct cli_cell head_unit(CLI_OF_ROW)
{
    const struct cli_head *h = row;
    return cli_cell_string(h->capture->info.unit);
}

static struct cli_cell head_idle_samples(CLI_OF_ROW)
{
    return cli_cell_u64(((const struct cli_head *)row)->capture->info.idle_samples);
}

static struct cli_cell head_idle(CLI_OF_ROW)
{
    return cli_cell_u64(((const struct cli_head *)row)->capture->info.idle_value);
}

const struct cli_column cli_head_columns[] = {
    { .name = "capture", .type = CLI_TYPE_TEXT, .get = head_capture,
      .means = "The capture as it was named, or \"standard input\"." },
    { .name = "unit", .type = CLI_TYPE_WORD, .get = head_unit, .words = cli_head_units,
      .means = "What values are made of." },
    { .name = "samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      .offset = offsetof(struct cli_head, samples), .means = "Samples that count." },
    { .name = "value", .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      .offset = offsetof(struct cli_head, value), .means = "The value of these samples." },
    { .name = "idle_samples", .type = CLI_TYPE_COUNT, .get = head_idle_samples,
      .means = CLI_HEAD_IDLE_SAMPLES },
    { .name = "idle_value", .type = CLI_TYPE_VALUE, .get = head_idle, .means = CLI_HEAD_IDLE },
    { 0 }
};

/* -- Text ------------------------------------------------------------------- */

/* Find the first thread that was chosen. Return false if there is none. */
static bool head_thread(const struct cli_capture *c, jsprof_read_thread *out)
{
    *out = (jsprof_read_thread){ .size = sizeof *out };
    for (uint64_t i = 0; jsprof_read_threads(c->reader, i, out, 1) == 1; i++)
        if (out->is_chosen)
            return true;
    return false;
}

struct cli_span cli_head_command(const struct cli_capture *c)
{
    jsprof_read_thread thread;
    jsprof_read_process p = { .size = sizeof p };
    int32_t pid = head_thread(c, &thread) ? thread.pid : 0;
    int64_t got;
    for (uint64_t i = 0; (got = jsprof_read_processes(c->reader, i, &p, 1)) == 1; i++)
        if (p.pid == pid && *p.command)
            return cli_span(p.command);
    cli_incomplete(got < 0);
    return cli_span(c->info.host);
}

static int head_compare(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Return of how many processes the threads are. */
static unsigned head_processes(const struct cli_capture *c, uint64_t threads)
{
    int32_t *pids = calloc(threads, sizeof *pids);
    jsprof_read_thread t = { .size = sizeof t };
    unsigned n = 0;
    for (uint64_t i = 0; pids && i < threads; i++)
        pids[i] = jsprof_read_threads(c->reader, i, &t, 1) == 1 ? t.pid : 0;
    if (pids)
        qsort(pids, threads, sizeof *pids, head_compare);
    for (uint64_t i = 0; pids && i < threads; i++)
        n += !i || pids[i] != pids[i - 1];
    free(pids);
    return n;
}

void cli_head_counts(const struct cli_head *h, bool is_markdown)
{
    const struct cli_capture *c = h->capture;
    const jsprof_read_info *info = &c->info;
    const struct cli_style *s = &c->style;
    const char *dot = s->is_utf8 ? " · " : ", ";
    char n[CLI_NUMBER], m[CLI_NUMBER];
    jsprof_read_thread thread;
    printf("%s sample%s", cli_count(n, h->samples), cli_s(h->samples));
    if (!cli_unit_is_count(info->unit))
        printf("%s%s of %s", dot, cli_value_of(n, info->unit, h->value), info->unit_name);
    printf(" in %s", cli_duration(m, info->last > info->first
                                         ? (uint64_t)info->last - (uint64_t)info->first
                                         : 0));
    if (info->hz && !cli_unit_is_bytes(info->unit))
        printf("%s%u Hz asked for", dot, info->hz);
    if (info->is_of_threads && head_thread(c, &thread)) {
        printf("%sthread %" PRId32 "%s", dot, thread.tid, is_markdown ? "" : " ");
        if (!is_markdown)
            cli_name(s, cli_span(thread.name), 24);
    }
    int64_t threads = info->is_of_threads ? 0 : jsprof_read_threads(c->reader, 0, NULL, 0);
    if (threads > 1)
        printf("%s%u threads", dot, (unsigned)threads);
    unsigned processes = threads > 1 ? head_processes(c, (uint64_t)threads) : 1;
    if (processes > 1)
        printf(" of %u processes", processes);
    putchar('\n');
}

void cli_heading(const struct cli_head *h)
{
    const struct cli_style *s = &h->capture->style;
    cli_colour(s, CLI_BOLD);
    cli_name(s, cli_head_command(h->capture), s->columns);
    cli_colour(s, CLI_PLAIN);
    putchar('\n');
    cli_head_counts(h, false);
    putchar('\n');
}

void cli_head_idle(const struct cli_head *h)
{
    const jsprof_read_info *info = &h->capture->info;
    char v[CLI_NUMBER], n[CLI_NUMBER], share[CLI_NUMBER];
    double all = (double)info->idle_value + (double)h->value;
    if (info->idle_samples)
        printf("Idle: %s of %s (%s, %s sample%s), waiting in an event loop; --idle counts it.\n",
               cli_percent(share, (double)info->idle_value / all), info->unit_name,
               cli_value_of(v, info->unit, info->idle_value), cli_count(n, info->idle_samples),
               cli_s(info->idle_samples));
}

void cli_allocations(const struct cli_capture *c)
{
    char n[CLI_NUMBER], v[CLI_NUMBER];
    const jsprof_read_info *info = &c->info;
    jsprof_read_session session = { .size = sizeof session };
    jsprof_read_account all = { .size = sizeof all };
    jsprof_read_session_of(c->reader, &session, &all);
    uint64_t lost = all.alloc_lost + session.alloc_lost;
    printf("%s %sallocation%s", cli_count(n, info->allocated),
           info->alloc_every ? "sampled " : "", cli_s(info->allocated));
    if (info->alloc_every)
        printf(", one in each %s", cli_bytes(v, info->alloc_every));
    if (all.alloc_bytes)
        printf("; %s were allocated in all", cli_bytes(v, all.alloc_bytes));
    puts(".");
    if (lost)
        printf("Lost: %s sample%s of allocations.\n", cli_count(n, lost), cli_s(lost));
    if (all.alloc_untold)
        printf("Counted as live for want of room in the table of sampled blocks: %s.\n",
               cli_count(n, all.alloc_untold));
}

static void head_losses(const struct cli_capture *c)
{
    const jsprof_read_info *info = &c->info;
    jsprof_read_loss loss = { .size = sizeof loss };
    jsprof_read_session session = { .size = sizeof session };
    char n[CLI_NUMBER], v[CLI_NUMBER], share[CLI_NUMBER];
    jsprof_read_session_of(c->reader, &session, NULL);
    if (!session.has_total && !jsprof_read_accounts(c->reader, 0, NULL, 0))
        return;
    if (info->lacks_end)
        fputs("Lost: not known, as the recording has no end; the file counts ", stdout);
    else
        fputs("Lost: ", stdout);
    printf("%s of %s timer expiration%s", cli_count(n, info->lost),
           cli_count(v, info->expirations), cli_s(info->expirations));
    if (info->lost)
        printf(" (%s)", cli_percent(share, (double)info->lost / (double)info->expirations));
    for (uint64_t i = 0, shown = 0;
         jsprof_read_losses(c->reader, JSPROF_READ_ALL, i, &loss, 1) == 1; i++)
        if (loss.count)
            printf("%s %s %s", shown++ ? "," : ":", loss.name, cli_count(n, loss.count));
    putchar('\n');
}

void cli_closing(const struct cli_head *h)
{
    const jsprof_read_info *info = &h->capture->info;
    char n[CLI_NUMBER], v[CLI_NUMBER];
    putchar('\n');
    if (cli_unit_is_count(info->unit))
        printf("100%% is %s sample%s; the capture %s.\n", cli_count(n, h->samples),
               cli_s(h->samples),
               *info->clock ? "does not record how long each counts" : "names no clock");
    else
        printf("100%% is %s of %s, in %s sample%s.\n", cli_value_of(v, info->unit, h->value),
               info->unit_name, cli_count(n, h->samples), cli_s(h->samples));
    if (cli_unit_is_bytes(info->unit)) {
        cli_allocations(h->capture);
        return;
    }
    cli_head_idle(h);
    head_losses(h->capture);
}
