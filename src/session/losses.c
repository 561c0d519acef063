/* session/losses.c - see losses.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "losses.h"

#include <inttypes.h>
#include <stdio.h>

/* Each cause or clock needs a key of at most 26 bytes and the largest number. */
enum { LOSSES_CAUSES = JSP_N_LOSSES * 48, LOSSES_CLOCKS = JSP_N_CLOCKS * 48 };

/* Percent-encode the characters that would end a value. `to` has room for 3 bytes for
 * each character. */
static void losses_encode(char *to, const char *text)
{
    static const char hex[] = "0123456789ABCDEF";
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c > ' ' && c != '%' && c != 0x7F) {
            *to++ = (char)c;
            continue;
        }
        *to++ = '%';
        *to++ = hex[c >> 4];
        *to++ = hex[c & 15];
    }
    *to = 0;
}

/* Return 0 for a line that did not fit: a number without its last digits would be a wrong
 * number. */
static size_t losses_end(int n)
{
    return n > 0 && n < JSP_LOSSES_LINE ? (size_t)n : 0;
}

size_t jsp_losses_session(char *to, const struct jsp_losses_session *s)
{
    int n = snprintf(to, JSP_LOSSES_LINE,
                     "session state=%s time=%" PRIu64 " hz=%u clock=%s samples=%" PRIu64
                     " labels=%" PRIu64 " label_bytes=%" PRIu64 " labels_lost=%" PRIu64
                     " labels_cut=%" PRIu64 " marks_lost=%" PRIu64 " addresses_missed=%" PRIu64
                     " write_error=%d\n",
                     s->state, jsp_now_ns(CLOCK_MONOTONIC), (unsigned)s->hz,
                     jsp_clocks[s->clock].key, s->n_samples, jsp_counted(&s->arena->n_labels),
                     jsp_counted(&s->arena->used), jsp_counted(&s->arena->n_lost),
                     s->labels_cut, s->marks_lost, s->addresses_missed, -s->write_error);
    return losses_end(n);
}

/* Write " lost_CAUSE=N" for each cause. */
static void losses_causes(char to[LOSSES_CAUSES], const struct jsp_counts *c,
                          const struct jsp_tally *tally)
{
    for (int cause = 0, used = 0; cause < JSP_N_LOSSES; cause++)
        used += snprintf(to + used, (size_t)(LOSSES_CAUSES - used), " %s=%" PRIu64,
                         jsp_losses[cause].key,
                         cause == JSP_LOST_WRITE ? tally->lost : c->lost[cause]);
}

/* Write the part of a thread's line that can be summed over threads. */
static int losses_counts(char *to, size_t size, const struct jsp_counts *c,
                         const struct jsp_tally *tally)
{
    char causes[LOSSES_CAUSES];
    losses_causes(causes, c, tally);
    return snprintf(to, size,
                    " expirations=%" PRIu64 " kept=%" PRIu64 " samples=%" PRIu64 "%s"
                    " frames_cut=%" PRIu64 " frames_bad=%" PRIu64 " underflows=%" PRIu64
                    " stop_end=%" PRIu64 " stop_full=%" PRIu64 " stop_no_table=%" PRIu64
                    " stop_stack=%" PRIu64 " stop_unreadable=%" PRIu64 " stop_rule=%" PRIu64
                    " handler_ns=%" PRIu64,
                    c->expirations, tally->kept, tally->samples, causes, c->frames_cut,
                    c->frames_bad, c->underflows,
                    c->stops[JSP_STOP_END], c->stops[JSP_STOP_FULL],
                    c->stops[JSP_STOP_NO_TABLE], c->stops[JSP_STOP_STACK],
                    c->stops[JSP_STOP_UNREADABLE], c->stops[JSP_STOP_RULE], c->handler_ns);
}

/* Write " CLOCK_ns=N" for each clock: how long the thread was armed. */
static void losses_clocks(char to[LOSSES_CLOCKS], const struct jsp_thread *t)
{
    uint64_t ns[JSP_N_CLOCKS];
    jsp_thread_armed_ns(t, ns);
    for (int clock = 0, used = 0; clock < JSP_N_CLOCKS; clock++)
        used += snprintf(to + used, (size_t)(LOSSES_CLOCKS - used), " %s=%" PRIu64,
                         jsp_clocks[clock].unit, ns[clock]);
}

size_t jsp_losses_thread(char *to, const struct jsp_thread *t, const struct jsp_tally *tally)
{
    char name[3 * JSP_THREAD_NAME + 1], counts[JSP_LOSSES_LINE], armed[LOSSES_CLOCKS];

    losses_encode(name, t->name);
    losses_clocks(armed, t);
    losses_counts(counts, sizeof counts, &t->counts, tally);
    return losses_end(snprintf(to, JSP_LOSSES_LINE,
                               "thread id=%u tid=%d name=%s%s%s\n",
                               (unsigned)t->id, (int)t->tid, name, counts, armed));
}

size_t jsp_losses_total(char *to, const struct jsp_losses_total *total)
{
    char counts[JSP_LOSSES_LINE];
    losses_counts(counts, sizeof counts, total->counts, &total->tally);
    return losses_end(snprintf(to, JSP_LOSSES_LINE,
                               "total state=%s time=%" PRIu64 " write_error=%d%s\n",
                               total->state, jsp_now_ns(CLOCK_MONOTONIC), -total->write_error,
                               counts));
}
