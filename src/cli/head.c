/* cli/head.c - the head of an answer, and its end: which capture, and how much of it counts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "head.h"

#include <inttypes.h>
#include <string.h>

#include "functions.h"
#include "options.h"
#include "threads.h"

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
    return cli_cell_string(jsp_unit_key(h->capture->profile->unit));
}

static struct cli_cell head_idle_samples(CLI_OF_ROW)
{
    return cli_cell_u64(((const struct cli_head *)row)->capture->idle.samples);
}

static struct cli_cell head_idle(CLI_OF_ROW)
{
    return cli_cell_u64(((const struct cli_head *)row)->capture->idle.value);
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

struct cli_span cli_head_command(const struct cli_capture *c)
{
    const struct jsp_profile *p = c->profile;
    uint32_t first = 0; /* the first chosen thread */
    while (c->select.threads && first + 1 < p->n_threads && !c->select.threads[first])
        first++;
    struct jsp_read_text command =
        jsp_profile_command(p, p->n_threads ? p->threads[first].pid : 0);
    return command.len ? (struct cli_span){ command.at, command.len } : cli_span(p->host);
}

void cli_head_counts(const struct cli_head *h, bool is_markdown)
{
    const struct cli_capture *c = h->capture;
    const bool *threads = c->select.threads;
    const struct jsp_profile *p = c->profile;
    const struct cli_style *s = &c->style;
    const char *dot = s->is_utf8 ? " · " : ", ";
    char n[CLI_NUMBER], m[CLI_NUMBER];
    printf("%s sample%s", cli_count(n, h->samples), cli_s(h->samples));
    if (p->unit != JSP_VALUE_COUNT)
        printf("%s%s of %s", dot, cli_value(n, p, h->value), jsp_unit_name(p->unit));
    printf(" in %s", cli_duration(m, p->last_time > p->first_time
                                         ? (uint64_t)p->last_time - (uint64_t)p->first_time
                                         : 0));
    if (p->hz && !jsp_unit_is_bytes(p->unit))
        printf("%s%u Hz asked for", dot, p->hz);
    for (uint32_t i = 0, shown = 0; threads && i < p->n_threads; i++)
        if (threads[i] && !shown++) {
            printf("%sthread %" PRId32 "%s", dot, p->threads[i].tid, is_markdown ? "" : " ");
            if (!is_markdown)
                cli_name(s, cli_span(cli_thread_name(&p->threads[i])), 24);
        }
    if (!threads && p->n_threads > 1)
        printf("%s%u threads", dot, p->n_threads);
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
    const struct jsp_idle_sum *idle = &h->capture->idle;
    const struct jsp_profile *p = h->capture->profile;
    char v[CLI_NUMBER], n[CLI_NUMBER], share[CLI_NUMBER];
    double all = (double)idle->value + (double)h->value;
    if (idle->samples)
        printf("Idle: %s of %s (%s, %s sample%s), waiting in an event loop; --idle counts it.\n",
               cli_percent(share, (double)idle->value / all), jsp_unit_name(p->unit),
               cli_value(v, p, idle->value), cli_count(n, idle->samples), cli_s(idle->samples));
}

void cli_allocations(const struct jsp_profile *p)
{
    char n[CLI_NUMBER], v[CLI_NUMBER];
    struct jsp_account_verdict verdict;
    jsp_account_verdict(&p->account, &verdict);
    const struct jsp_account_thread *t = &verdict.sum;
    uint64_t lost = t->alloc_lost + p->account.session.allocs_lost;
    printf("%s %sallocation%s", cli_count(n, p->heap.n_allocated),
           p->heap.every ? "sampled " : "", cli_s(p->heap.n_allocated));
    if (p->heap.every)
        printf(", one in each %s", cli_bytes(v, p->heap.every));
    if (t->alloc_bytes)
        printf("; %s were allocated in all", cli_bytes(v, t->alloc_bytes));
    puts(".");
    if (lost)
        printf("Lost: %s sample%s of allocations.\n", cli_count(n, lost), cli_s(lost));
    if (t->alloc_untold)
        printf("Counted as live for want of room in the table of sampled blocks: %s.\n",
               cli_count(n, t->alloc_untold));
}

void cli_closing(const struct cli_head *h)
{
    const struct jsp_profile *p = h->capture->profile;
    char n[CLI_NUMBER], v[CLI_NUMBER], share[CLI_NUMBER];
    putchar('\n');
    if (p->unit == JSP_VALUE_COUNT)
        printf("100%% is %s sample%s; the capture %s.\n", cli_count(n, h->samples),
               cli_s(h->samples),
               p->clock[0] ? "does not record how long each counts" : "names no clock");
    else
        printf("100%% is %s of %s, in %s sample%s.\n", cli_value(v, p, h->value),
               jsp_unit_name(p->unit), cli_count(n, h->samples), cli_s(h->samples));
    if (jsp_unit_is_bytes(p->unit)) {
        cli_allocations(p);
        return;
    }
    cli_head_idle(h);
    struct jsp_account_verdict verdict;
    jsp_account_verdict(&p->account, &verdict);
    const struct jsp_account_thread *t = &verdict.sum;
    uint64_t lost = jsp_account_lost(t);
    if (p->account.n_threads == 0 && !verdict.is_total)
        return;
    printf("Lost: %s of %s timer expiration%s", cli_count(n, lost),
           cli_count(v, t->expirations), cli_s(t->expirations));
    if (lost)
        printf(" (%s)", cli_percent(share, (double)lost / (double)t->expirations));
    for (int cause = 0, shown = 0; cause < JSP_N_LOSSES; cause++)
        if (t->lost[cause])
            printf("%s %s %s", shown++ ? "," : ":", jsp_losses[cause].name,
                   cli_count(n, t->lost[cause]));
    putchar('\n');
}
