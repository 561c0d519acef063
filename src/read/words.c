/* read/words.c - the words of a filter that choose a span of time, a process, a thread.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS_NUMBER = 24 };

/* Read digits, then perhaps a point and more digits, up to `end`. So neither "2..5" nor "2." is a
 * number. Return the place after it. */
static const char *words_number(const char *at, const char *end, double *out)
{
    double digits = 0, scale = 1;
    while (at < end && *at >= '0' && *at <= '9')
        digits = digits * 10 + (*at++ - '0');
    if (end - at > 1 && *at == '.' && at[1] >= '0' && at[1] <= '9')
        for (at++; at < end && *at >= '0' && *at <= '9'; at++, scale *= 10)
            digits = digits * 10 + (*at - '0');
    *out = digits / scale;
    return at;
}

/* Read one end of a span of time, up to `end`. An empty text is 0. */
static bool words_moment(const char *at, const char *end, uint64_t *out)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = { { "", 1e9 },   { "s", 1e9 },  { "ms", 1e6 },
                  { "us", 1e3 }, { "ns", 1.0 }, { "m", 60e9 } };
    double value;
    *out = 0;
    if (at == end)
        return true;
    if (*at < '0' || *at > '9')
        return false;
    const char *unit = words_number(at, end, &value);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == (size_t)(end - unit) &&
            memcmp(units[i].name, unit, (size_t)(end - unit)) == 0 &&
            value * units[i].ns < 9e18) {
            *out = (uint64_t)(value * units[i].ns + 0.5);
            return true;
        }
    return false;
}

bool jsp_reader_time(const char *word, uint64_t *from, uint64_t *to)
{
    const char *dots = strstr(word, "..");
    if (!dots || strlen(word) == 2)
        return false;
    const char *second = dots + 2, *end = second + strlen(second);
    return words_moment(word, dots, from) && words_moment(second, end, to) &&
           (second == end || *to > *from);
}

/* -- Threads and processes --------------------------------------------------- */

static const char *words_name(const struct jsp_thread_info *t)
{
    return t->losses ? t->losses->name : "";
}

static int words_no_thread(const struct jsp_profile *p, const char *which, jsprof_read_error *e)
{
    char list[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < p->n_threads && used < sizeof list; i++) {
        const char *name = words_name(&p->threads[i]);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%" PRId32 "%s%s",
                                 i ? ", " : "", p->threads[i].tid, *name ? " " : "", name);
    }
    return jsp_reader_fail(e, (struct jsp_reader_fault){ .code = -ENODATA },
                           "no thread \"%s\" (there are: %s%s)", which, list,
                           used >= sizeof list ? " ..." : "");
}

/* Match a process by number, by the whole command line, or by the last part of its first
 * word. */
static bool words_process(const struct jsp_profile *p, int32_t pid, const char *which)
{
    char number[WORDS_NUMBER];
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

static int words_no_process(const struct jsp_profile *p, const char *which,
                            jsprof_read_error *e)
{
    char list[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < p->n_processes && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%" PRId32,
                                 i ? ", " : "", p->processes[i].pid);
    return jsp_reader_fail(e, (struct jsp_reader_fault){ .code = -ENODATA },
                           "no samples of a process \"%s\" (there are: %s%s)", which, list,
                           used >= sizeof list ? " ..." : "");
}

int jsp_reader_threads(const struct jsp_profile *p, const jsprof_read_filter *f, bool **flags,
                       jsprof_read_error *e)
{
    bool any = false, any_process = !f->process;
    if (!f->thread && !f->process)
        return 0;
    bool *chosen = calloc((size_t)p->n_threads + 1, sizeof *chosen);
    if (!chosen)
        return jsp_reader_errno(e, -ENOMEM, NULL);
    for (uint32_t i = 0; i < p->n_threads; i++) {
        const struct jsp_thread_info *t = &p->threads[i];
        bool is_of = !f->process || words_process(p, t->pid, f->process);
        char tid[WORDS_NUMBER];
        snprintf(tid, sizeof tid, "%" PRId32, t->tid);
        chosen[i] = is_of && (!f->thread || strcmp(tid, f->thread) == 0 ||
                              strcmp(words_name(t), f->thread) == 0);
        any_process |= is_of;
        any |= chosen[i];
    }
    if (any) {
        *flags = chosen;
        return 0;
    }
    free(chosen);
    return any_process && f->thread ? words_no_thread(p, f->thread, e)
                                    : words_no_process(p, f->process ? f->process : "", e);
}
