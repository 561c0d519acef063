/* export/shown_names.c - names from a capture, in the forms of other formats.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shown_names.h"

#include <inttypes.h>
#include <stdio.h>

#include "utf8.h"

void jsp_shown_plain_bytes(struct jsp_sink *out, struct jsp_read_text name,
                           char separator)
{
    if (name.len == 0)
        return; /* the pointer may be NULL */
    const unsigned char *at = (const unsigned char *)name.at, *end = at + name.len;
    for (size_t used; at < end; at += used) {
        uint32_t c = jsp_utf8_next(at, (size_t)(end - at), &used);
        /* A replacement character in the name itself takes three bytes. */
        bool is_broken = c == JSP_UTF8_REPLACEMENT && (used < 3 || at[0] != 0xEF);
        if (is_broken || jsp_utf8_is_harmful(c)) {
            char text[8];
            for (size_t i = 0; i < used; i++) {
                snprintf(text, sizeof text, "\\x%02x", at[i]);
                jsp_sink_text(out, text);
            }
        } else if (separator && c == (unsigned char)separator)
            jsp_sink_byte(out, ':');
        else
            jsp_sink_put(out, at, used);
    }
}

void jsp_shown_plain(struct jsp_sink *out, const char *name, char separator)
{
    jsp_shown_plain_bytes(out, (struct jsp_read_text){ name, (uint32_t)strlen(name) },
                          separator);
}

const char *jsp_shown_of_thread(const struct jsp_profile *p, uint32_t thread)
{
    const struct jsp_account_thread *t = p->threads[thread].losses;
    return t ? t->name : "";
}

struct jsp_read_text jsp_shown_thread_text(char out[JSP_NAMES_THREAD],
                                           const struct jsp_profile *p, uint32_t thread)
{
    const struct jsp_thread_info *t = &p->threads[thread];
    const char *name = jsp_shown_of_thread(p, thread);
    int len = snprintf(out, JSP_NAMES_THREAD, "%s ", *name ? name : "thread");
    if (p->is_of_many)
        len += snprintf(out + len, JSP_NAMES_THREAD - (size_t)len, "%" PRId32 "/", t->pid);
    len += snprintf(out + len, JSP_NAMES_THREAD - (size_t)len, "%" PRId32, t->tid);
    return (struct jsp_read_text){ out, (uint32_t)len };
}

void jsp_shown_thread(struct jsp_sink *out, const struct jsp_profile *p, uint32_t thread,
                      char separator)
{
    char text[JSP_NAMES_THREAD];
    jsp_shown_plain_bytes(out, jsp_shown_thread_text(text, p, thread), separator);
}

struct jsp_read_text jsp_shown_labels_text(char out[JSP_NAMES_LABELS],
                                           const struct jsp_label_set *set)
{
    size_t n = 0;
    for (uint32_t i = 0; i < set->n; i++) {
        const struct jsp_labels_pair *pair = &set->pairs[i];
        size_t room = JSP_NAMES_LABELS - n;
        int len = snprintf(out + n, room, "%s%.*s=%.*s", i ? ", " : "", (int)pair->key.len,
                           pair->key.at, (int)pair->value.len, pair->value.at);
        if (len < 0 || (size_t)len >= room) {
            memcpy(out + JSP_NAMES_LABELS - 4, "...", 3);
            n = JSP_NAMES_LABELS - 1;
            break;
        }
        n += (size_t)len;
    }
    return (struct jsp_read_text){ out, (uint32_t)n };
}
