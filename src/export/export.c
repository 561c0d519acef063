/* export/export.c - data that several formats need.
 *
 * SPDX-License-Identifier: MIT
 */
#include "export.h"

#include <time.h>

int64_t jsp_export_time_of_day(const struct jsp_profile *p)
{
    struct tm tm = { 0 };
    const char *end = strptime(p->capture->capture_time, "%Y-%m-%dT%H:%M:%SZ", &tm);
    int64_t seconds = end && !*end ? timegm(&tm) : 0;
    return seconds > 0 && seconds < INT64_MAX / 1000000000 ? seconds * 1000000000 : 0;
}

uint64_t jsp_export_span(const struct jsp_profile *p)
{
    const struct jsp_read *c = p->capture;
    uint64_t samples = p->last_sample > p->first_sample
                           ? (uint64_t)p->last_sample - (uint64_t)p->first_sample : 0;
    uint64_t whole = !p->is_part && c->time > 0 && c->end_time > c->time
                         ? (uint64_t)c->end_time - (uint64_t)c->time : 0;
    return whole > samples ? whole : samples;
}

const struct jsp_export_host *jsp_export_host(const struct jsp_export *e, int32_t recorded)
{
    for (uint32_t i = 0; i < e->n_hosts; i++)
        if (e->hosts[i].recorded == recorded)
            return &e->hosts[i];
    return NULL;
}

const char *const *jsp_export_types(const struct jsp_profile *p)
{
    static const char *const types[JSP_N_VALUES][3] = {
        [JSP_VALUE_COUNT] = { "samples" },
        [JSP_VALUE_ALLOC] = { "alloc_objects", "alloc_space", "bytes" },
        [JSP_VALUE_LIVE] = { "inuse_objects", "inuse_space", "bytes" },
#define EXPORT_CLOCK(CLOCK, key, unit, name, meaning) \
    [JSP_VALUE_##CLOCK] = { "samples", key, "nanoseconds" },
        JSP_CLOCKS(EXPORT_CLOCK)
    };
    return types[p->unit];
}
