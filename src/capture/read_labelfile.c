/* capture/read_labelfile.c - reads the records of jsprof/labels: see labelfile.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "labelfile.h"

static bool labelfile_text(const uint8_t **at, const uint8_t *end, uint64_t n,
                           struct jsp_read_text *out)
{
    if (n > (uint64_t)(end - *at) || n > UINT32_MAX)
        return false;
    *out = (struct jsp_read_text){ (const char *)*at, (uint32_t)n };
    *at += n;
    return true;
}

bool jsp_labels_pair_get(const uint8_t **at, const uint8_t *end, struct jsp_labels_pair *out)
{
    uint64_t n;
    out->value = (struct jsp_read_text){ "", 0 };
    if (!jsp_read_varint(at, end, &n) || !labelfile_text(at, end, n, &out->key) ||
        !jsp_read_varint(at, end, &n))
        return false;
    out->has_value = n;
    return !n || labelfile_text(at, end, n - 1, &out->value);
}

static bool labelfile_set(const uint8_t **at, const uint8_t *end, struct jsp_labels_record *out)
{
    struct jsp_labels_pair pair;
    uint64_t n;
    if (!jsp_read_varint(at, end, &n) || n > (uint64_t)(end - *at) / 2)
        return false;
    out->set.n = (uint32_t)n;
    out->set.at = *at;
    while (n && jsp_labels_pair_get(at, end, &pair))
        n--;
    out->set.end = *at;
    return !n;
}

bool jsp_labels_record_get(const uint8_t **at, const uint8_t *end,
                           struct jsp_labels_record *out)
{
    if (*at >= end)
        return false;
    *out = (struct jsp_labels_record){ .tag = (enum jsp_wire_labels)*(*at)++ };
    switch (out->tag) {
    case JSP_WIRE_LABELS_SET:
        return jsp_read_varint(at, end, &out->number) && labelfile_set(at, end, out);
    case JSP_WIRE_LABELS_TRACE:
        if (!jsp_read_varint(at, end, &out->number) || !jsp_read_varint(at, end, &out->other) ||
            end - *at < JSP_LABELS_TRACE)
            return false;
        out->trace = *at;
        *at += JSP_LABELS_TRACE;
        return true;
    case JSP_WIRE_LABELS_TASK:
        return jsp_read_varint(at, end, &out->other) && jsp_read_varint(at, end, &out->number);
    }
    return false;
}
