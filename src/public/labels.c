/* public/labels.c - the public functions of labels and traces.
 *
 * SPDX-License-Identifier: MIT
 */
#include "public.h"

/* Return the thread's labels, or NULL if `t` is another thread's, or freed memory. */
static struct jsp_tags *public_tags(jsprof_thread *t)
{
    struct jsp_thread *thread = public_thread(t);
    if (jsp_sampled_is_linked(&thread->sampled))
        return &thread->sampled.tags;
    jsp_tags_stray_add();
    return NULL;
}

static struct jsp_tags_pair public_pair(const char *key, const char *value)
{
    return (struct jsp_tags_pair){ key, value, strlen(key), value ? strlen(value) : 0 };
}

int jsprof_label_set(jsprof_thread *t, const char *key, const char *value)
{
    if (!t)
        return 0;
    if (!key || !*key)
        return -EINVAL;
    struct jsp_tags *tags = public_tags(t);
    const struct jsp_tags_pair pair = public_pair(key, value);
    return tags ? jsp_tags_set(tags, &pair) : -EPERM;
}

uint32_t jsprof_label_push(jsprof_thread *t, const char *key, const char *value)
{
    struct jsp_tags *tags = t ? public_tags(t) : NULL;
    if (!tags)
        return 0;
    const struct jsp_tags_pair pair = public_pair(key ? key : "", value);
    return jsp_tags_push(tags, pair.n_key ? &pair : NULL);
}

void jsprof_label_pop(jsprof_thread *t, uint32_t before)
{
    struct jsp_tags *tags = t ? public_tags(t) : NULL;
    if (tags)
        jsp_tags_pop(tags, before);
}

int jsprof_trace_set(jsprof_thread *t, const uint8_t trace_id[16], const uint8_t span_id[8])
{
    uint8_t ids[JSP_TAGS_TRACE] = { 0 };
    struct jsp_tags_pair pair = { "", trace_id ? ids : NULL, 0, JSP_TAGS_TRACE };
    struct jsp_tags *tags = t ? public_tags(t) : NULL;
    if (!tags)
        return t ? -EPERM : 0;
    if (trace_id)
        memcpy(ids, trace_id, 16);
    if (trace_id && span_id)
        memcpy(ids + 16, span_id, 8);
    return jsp_tags_set(tags, &pair);
}
