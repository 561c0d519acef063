/* cli/threads.c - choosing and describing the threads of a profile.
 *
 * SPDX-License-Identifier: MIT
 */
#include "threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *cli_thread_name(const struct jsp_thread_info *t)
{
    return t->losses ? t->losses->name : "";
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

/* Match a process by number, by the whole command line, or by the last part of its first
 * word. */
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
        const struct jsp_thread_info *t = &p->threads[i];
        bool is_of = !process || threads_of(p, t->pid, process);
        char tid[CLI_NUMBER];
        snprintf(tid, sizeof tid, "%" PRId32, t->tid);
        chosen[i] = is_of && (!thread || strcmp(tid, thread) == 0 ||
                              strcmp(cli_thread_name(t), thread) == 0);
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

const char *cli_value(char out[CLI_NUMBER], const struct jsp_profile *p, uint64_t value)
{
    return p->unit == JSP_VALUE_COUNT    ? cli_count(out, value)
           : jsp_unit_is_bytes(p->unit) ? cli_bytes(out, value)
                                        : cli_duration(out, value);
}
