/* export/timeline.h - marks by thread and values by counter, for formats with such lists.
 *
 * A mark belongs to a process; it is listed with the first thread of its process that has
 * selected samples, or with the first such thread of all if its process has none. One
 * thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_TIMELINE_H
#define JSP_EXPORT_TIMELINE_H

#include "analyze/events.h"
#include "moments.h"

struct jsp_timeline {
    struct jsp_events events;
    /* Positions in events.marks, those of thread t at [first[t], first[t + 1]). */
    uint32_t *marks, *marks_first;
    /* Positions in events.values, the same by counter. */
    uint32_t *values, *values_first;
    uint32_t *counter_thread; /* the thread of each counter, by the same rule */
};

int jsp_timeline_build(struct jsp_timeline *t, struct jsp_profile *p,
                       const struct jsp_moments *m); /* 0 or -ENOMEM */
void jsp_timeline_free(struct jsp_timeline *t);

#endif
