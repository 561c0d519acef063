/* frames.cpp - see frames.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "frames.h"

#include "recording.h"

namespace {

constexpr size_t FRAMES_KINDS = 16;

/* A frame or a phase; only the thread of the script has them. */
struct frames_kind {
    const char *toolkit, *name; /* literals, compared as pointers; nullptr: not used yet */
    jsprof_task task;
};
frames_kind frames_kinds[FRAMES_KINDS];

const char *frames_toolkit; /* of the frame that is drawn */
jsprof_task frames_frame, frames_now; /* it and its phase; 0: none */

jsprof_task frames_of(jsprof_thread *t, const char *name)
{
    for (frames_kind &k : frames_kinds) {
        if (!k.name)
            k = { frames_toolkit, name,
                  jsprof_task_new(t, frames_toolkit, name, JSPROF_TASK_NO_STACK) };
        if (k.toolkit == frames_toolkit && k.name == name)
            return k.task;
    }
    return 0;
}

} // namespace

void frames_begin(const char *toolkit)
{
    jsprof_thread *t = recording_tasks(nullptr);

    frames_end();
    if (!t)
        return;
    frames_toolkit = toolkit;
    frames_frame = frames_of(t, "frame");
    jsprof_task_begin(t, frames_frame);
}

void frames_phase(const char *phase)
{
    jsprof_thread *t = recording_tasks(nullptr);

    if (!frames_frame)
        return;
    if (frames_now)
        jsprof_task_end(t, frames_now);
    frames_now = frames_of(t, phase);
    jsprof_task_begin(t, frames_now);
}

void frames_end(void)
{
    jsprof_thread *t = recording_tasks(nullptr);

    if (frames_now)
        jsprof_task_end(t, frames_now);
    if (frames_frame)
        jsprof_task_end(t, frames_frame);
    frames_frame = frames_now = 0;
}
