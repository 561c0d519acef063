/* serve/stored.h - the captures that processes in continuous mode have written into a folder.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_STORED_H
#define JSP_SERVE_STORED_H

#include <stdbool.h>
#include <time.h>

#include "fleet.h"

struct stored {
    const char *path;
    struct fleet_host host; /* program and process by the name of the file; no vm */
    time_t begin, end;      /* when the file was begun, and last written */
    bool is_empty;          /* the process was killed before it wrote a byte */
    int err;                /* it could not be opened: negative errno; 0 */
};

/* Call `take` with each capture of the folder that no process writes any more, the oldest of a
 * process first. Other files are skipped. Return 0 or a negative errno of the folder. */
int stored_each(const char *folder, void (*take)(void *data, struct stored *s), void *data);

#endif
