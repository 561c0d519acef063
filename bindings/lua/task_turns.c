/* task_turns.c - turns of a loop: what a library does between two waits for events.
 *
 * SPDX-License-Identifier: MIT
 *
 * A loop may run inside a task, such as a coroutine. Then its turns end where the run of that task
 * ends: the next run goes on to the next wait.
 */
#include "tasks.h"

#include "threads.h"

/* The turn that is open. */
static __thread struct {
    jsprof_thread *thread; /* NULL: none */
    jsprof_task inside;
} turns_open;

static void turns_end(void)
{
    jsprof_turn_end(turns_open.thread);
    turns_open.thread = NULL;
}

/* A wait inside a run of the turn, such as for the answer to a request, does not end it. */
void jsp_lua_task_waits(void)
{
    if (turns_open.thread && jsprof_task_running(turns_open.thread) == turns_open.inside)
        turns_end();
}

void jsp_lua_task_waited(void)
{
    if (turns_open.thread || !jsp_lua_here.tasks)
        return;
    turns_open.thread = jsp_lua_here.tasks;
    turns_open.inside = jsprof_task_running(turns_open.thread);
    jsprof_turn_begin(turns_open.thread);
}

void jsp_lua_task_leaves(jsprof_task task)
{
    if (turns_open.thread && turns_open.inside == task)
        turns_end();
}

void jsp_lua_task_forget_turn(void)
{
    turns_open.thread = NULL;
}
