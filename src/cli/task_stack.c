/* cli/task_stack.c - see task_stack.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "task_stack.h"

#include <stdio.h>
#include <stdlib.h>

#include "open.h"

static int64_t task_stack_frames(const struct cli_task_stack *s, jsprof_read_frame *out,
                                 uint64_t n)
{
    return s->chains ? jsprof_read_link_frames(s->chains, s->chain, s->link, 0, out, n)
                     : jsprof_read_task_frames(s->tasks, s->task, 0, out, n);
}

static void task_stack_put(const struct cli_task_stack *s, const jsprof_read_frame *frames,
                           int64_t n, FILE *out)
{
    bool has_vm = false;
    int shown = 0;
    for (int64_t i = 0; i < n; i++)
        has_vm |= !frames[i].is_native;
    for (int64_t i = 0; i < n; i++) {
        if (s->is_vm && has_vm && frames[i].is_native)
            continue;
        if (s->most && shown == s->most) {
            fprintf(out, "%s...", s->between);
            break;
        }
        fprintf(out, "%s%s", shown++ ? s->between : "", frames[i].name);
    }
}

char *cli_task_stack(const struct cli_task_stack *s)
{
    int64_t n = task_stack_frames(s, NULL, 0);
    jsprof_read_frame *frames = n > 0 ? calloc((size_t)n, sizeof *frames) : NULL;
    char *text = NULL;
    size_t len = 0;
    if (frames) {
        frames->size = sizeof *frames;
        n = task_stack_frames(s, frames, (uint64_t)n);
    } else if (n) {
        n = -1;
    }
    FILE *out = open_memstream(&text, &len);
    bool is_whole = !cli_incomplete(!out || n < 0);
    if (out && is_whole)
        task_stack_put(s, frames, n, out);
    free(frames);
    if (!out)
        return NULL;
    if (fclose(out) == 0)
        return text;
    cli_incomplete(true);
    free(text);
    return NULL;
}

void cli_task_name(const struct cli_style *s, const char *kind, const char *name)
{
    cli_name(s, cli_span(kind), 0);
    if (*kind && *name)
        putchar(' ');
    cli_name(s, cli_span(name), 0);
    if (!*kind && !*name)
        fputs("(without a name)", stdout);
}
