/* cli/task_stack.c - see task_stack.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "task_stack.h"

#include <stdio.h>
#include <stdlib.h>

#include "open.h"

static void task_stack_put(const struct cli_task_stack *s, int n, FILE *out)
{
    bool has_vm = false;
    int shown = 0;
    for (int i = 0; i < n; i++)
        has_vm |= s->frames[i].origin == JSP_ORIGIN_VM;
    for (int i = 0; i < n; i++) {
        if (s->is_vm && has_vm && s->frames[i].origin != JSP_ORIGIN_VM)
            continue;
        if (s->most && shown == s->most) {
            fprintf(out, "%s...", s->between);
            break;
        }
        fprintf(out, "%s%s", shown++ ? s->between : "",
                s->profile->functions[s->frames[i].function].name);
    }
}

char *cli_task_stack(const struct cli_task_stack *s, uint32_t stack)
{
    int n = stack == JSP_TASK_NONE
                ? 0
                : jsp_tasks_stack_frames(s->tasks, s->profile, stack, s->frames);
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (cli_incomplete(!out || n < 0))
        n = 0;
    if (!out)
        return NULL;
    task_stack_put(s, n, out);
    if (fclose(out) == 0)
        return text;
    cli_incomplete(true);
    free(text);
    return NULL;
}
