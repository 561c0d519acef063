/* frames.h - the frames that a program draws, as tasks of the recording.
 *
 * SPDX-License-Identifier: MIT
 *
 * A frame is a run of one task of its toolkit, and its phases are runs of others inside it. What
 * JavaScript does for a frame, and how long the frame took, is then under it. Without
 * --profile-tasks these do nothing.
 */
#ifndef JSPROF_MOZJS_FRAMES_H
#define JSPROF_MOZJS_FRAMES_H

/* A frame begins; one that has not ended ends. `toolkit` is a literal. */
void frames_begin(const char *toolkit);

/* The next phase of this frame begins, a literal. */
void frames_phase(const char *phase);

void frames_end(void);

#endif
