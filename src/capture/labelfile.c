/* capture/labelfile.c - writes the records of jsprof/labels: see labelfile.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "labelfile.h"

size_t jsp_labels_pair_put(uint8_t *to, const struct jsp_labels_pair *pair)
{
    uint8_t *begin = to;
    to += jsp_varint_put(to, pair->key.len);
    if (pair->key.len)
        memcpy(to, pair->key.at, pair->key.len);
    to += pair->key.len;
    to += jsp_varint_put(to, pair->has_value ? (uint64_t)pair->value.len + 1 : 0);
    if (pair->has_value && pair->value.len)
        memcpy(to, pair->value.at, pair->value.len);
    return (size_t)(to - begin) + (pair->has_value ? pair->value.len : 0);
}

size_t jsp_labels_record_put(uint8_t *to, const struct jsp_labels_record *r)
{
    uint8_t *begin = to;
    *to++ = (uint8_t)r->tag;
    to += jsp_varint_put(to, r->tag == JSP_WIRE_LABELS_TASK ? r->other : r->number);
    switch (r->tag) {
    case JSP_WIRE_LABELS_SET:
        to += jsp_varint_put(to, r->set.n);
        memcpy(to, r->set.at, (size_t)(r->set.end - r->set.at));
        to += r->set.end - r->set.at;
        break;
    case JSP_WIRE_LABELS_TRACE:
        to += jsp_varint_put(to, r->other);
        memcpy(to, r->trace, JSP_LABELS_TRACE);
        to += JSP_LABELS_TRACE;
        break;
    case JSP_WIRE_LABELS_TASK:
        to += jsp_varint_put(to, r->number);
        break;
    }
    return (size_t)(to - begin);
}
