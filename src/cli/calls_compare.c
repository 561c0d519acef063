/* calls_compare.c - how exact calls of two captures differ, as a table.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "cli/calls.h"

/* "+12,345", "-3", "=" */
static const char *compare_count(char out[CLI_NUMBER], uint64_t a, uint64_t b)
{
    char n[CLI_NUMBER];
    if (a == b)
        return strcpy(out, "=");
    snprintf(out, CLI_NUMBER, "%c%.29s", b > a ? '+' : '-', cli_count(n, b > a ? b - a : a - b));
    return out;
}

static const char *compare_time(char out[CLI_NUMBER], uint64_t a, uint64_t b)
{
    char n[CLI_NUMBER];
    if (a == b)
        return strcpy(out, "=");
    snprintf(out, CLI_NUMBER, "%c%.29s", b > a ? '+' : '-',
             cli_exact_duration(n, b > a ? b - a : a - b));
    return out;
}

static const char *compare_bytes(char out[CLI_NUMBER], uint64_t a, uint64_t b)
{
    char n[CLI_NUMBER];
    if (a == b)
        return strcpy(out, "=");
    snprintf(out, CLI_NUMBER, "%c%.29s", b > a ? '+' : '-',
             cli_bytes(n, b > a ? b - a : a - b));
    return out;
}

/* "x1.25" of what it was before. */
static const char *compare_ratio(char out[CLI_NUMBER], const struct jsp_exact_pair *p)
{
    double a = (double)p->first.total / (double)(p->first.calls ? p->first.calls : 1);
    double b = (double)p->second.total / (double)(p->second.calls ? p->second.calls : 1);
    strcpy(out, "");
    if (!p->in_first || !p->in_second)
        strcpy(out, p->in_first ? "gone" : "new");
    else if (a > 0)
        snprintf(out, CLI_NUMBER, "x%.2f", b / a);
    return out;
}

static void compare_row(const struct cli_style *s, const struct jsp_exact_pair *p,
                        uint64_t modes)
{
    char a[CLI_NUMBER], b[CLI_NUMBER];
    printf("%12s%12s", cli_count(a, p->second.calls),
           compare_count(b, p->first.calls, p->second.calls));
    if (modes & JSP_EXACT_TIME) {
        printf("%10s%11s", cli_exact_duration(a, p->second.self),
               compare_time(b, p->first.self, p->second.self));
        printf("%10s", p->second.calls ? cli_exact_duration(a, jsp_exact_each(&p->second)) : "");
    }
    printf("%8s", compare_ratio(a, p));
    if (modes & JSP_EXACT_ALLOC)
        printf("%12s", compare_bytes(a, p->first.self_bytes, p->second.self_bytes));
    int used = 24 + 8 + (modes & JSP_EXACT_TIME ? 31 : 0) + (modes & JSP_EXACT_ALLOC ? 12 : 0) + 2;
    fputs("  ", stdout);
    cli_name(s, cli_span(p->function->shown),
             s->columns == 0 ? 0 : s->columns - used > 8 ? s->columns - used : 8);
    putchar('\n');
}

static void compare_which(char which, const struct cli_calls *c)
{
    char calls[CLI_NUMBER], time[CLI_NUMBER];
    uint64_t inside = c->calls.commit[JSP_WIRE_COMMIT_INSIDE];
    printf("%c  ", which);
    cli_name(&c->capture.style, cli_span(c->capture.label), 0);
    printf(": %s calls", cli_count(calls, c->calls.commit[JSP_WIRE_COMMIT_CALLS]));
    if (c->calls.modes & JSP_EXACT_TIME)
        printf(" in %s", cli_exact_duration(time, jsp_exact_ns(&c->calls, inside)));
    putchar('\n');
}

void cli_calls_compare(const struct cli_calls *first, const struct cli_calls *second,
                       const struct cli_calls_ask *ask)
{
    const struct cli_style *s = &second->capture.style;
    struct jsp_exact_pair *pairs = NULL;
    uint32_t n = 0, modes = (uint32_t)(first->calls.modes & second->calls.modes);
    if (cli_incomplete(cli_calls_pairs(&pairs, &n, first, second, ask) < 0))
        return;
    uint32_t shown = ask->limit && ask->limit < n ? ask->limit : n;
    compare_which('A', first);
    compare_which('B', second);
    cli_colour(s, CLI_DIM);
    printf("\n%12s%12s%s%8s%s  FUNCTION\n", "CALLS IN B", "SINCE A",
           modes & JSP_EXACT_TIME ? "      SELF    SINCE A  PER CALL" : "",
           modes & JSP_EXACT_TIME ? "OF A" : "",
           modes & JSP_EXACT_ALLOC ? "  BYTES" : "");
    cli_colour(s, CLI_PLAIN);
    for (uint32_t i = 0; i < shown; i++)
        compare_row(s, &pairs[i], modes);
    if (shown < n) {
        char more[CLI_NUMBER];
        bool is_one = n - shown == 1;
        printf("%12s%s more function%s (--limit 0 shows %s)\n", "", cli_count(more, n - shown),
               is_one ? "" : "s", is_one ? "it" : "them");
    }
    free(pairs);
    if (first->calls.modes != second->calls.modes)
        puts("\nThe two did not count the same: columns are those that both have.");
}
