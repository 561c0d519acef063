/* relay_numbers.h - the numbers of functions in relayed samples, as frames of an embedded file.
 *
 * SPDX-License-Identifier: MIT
 *
 * Sysprof may number functions anew, by their names, so that a function is the same in each tier.
 * The file jsprof/relayed has our numbers and names; see docs/capture.md. One thread.
 */
#ifndef JSPROF_MOZJS_RELAY_NUMBERS_H
#define JSPROF_MOZJS_RELAY_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

enum { RELAY_NUMBERS_BYTES = 4096 }; /* of a frame: a ring must have room for it */

struct relay_numbers {
    unsigned char frame[RELAY_NUMBERS_BYTES]; /* a FILE_CHUNK */
    size_t n;                                 /* bytes of its data */
    int64_t time;                             /* of the last sample in it; at first 0 */
};

/* Note a JITMAP or a SAMPLE. Return 0, or -1 if the frame has no room for it: take the frame,
 * then note it again. What no frame has room for is left out, and 0 returned. */
int relay_numbers_note(struct relay_numbers *r, const unsigned char *frame, size_t len);

/* Complete the frame and begin another one in its place. Return its length, 0 if nothing was
 * noted. It is valid until the next call. */
size_t relay_numbers_take(struct relay_numbers *r);

#endif
