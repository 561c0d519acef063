/* control/request.c - see request.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clocks.h"
#include "base/losses.h"

enum { REQUEST_USUAL_HZ = 1000, REQUEST_MOST_HZ = 10000, REQUEST_MOST_MODES = 15 };
static const uint32_t request_most_stall_us = 3600000000u; /* an hour */

/* A word of the line. */
struct request_word {
    const char *at;
    size_t n;
};

/* Take the next word. Return false at the end of the line. */
static bool request_next(struct request_word *word, const char **at, const char *end)
{
    while (*at < end && **at == ' ')
        ++*at;
    word->at = *at;
    while (*at < end && **at != ' ')
        ++*at;
    word->n = (size_t)(*at - word->at);
    return word->n;
}

static bool request_is(const struct request_word *word, const char *text)
{
    return strlen(text) == word->n && memcmp(word->at, text, word->n) == 0;
}

/* Return true if the word is KEY=VALUE; *value is the rest. */
static bool request_has_key(const struct request_word *word, const char *key,
                            struct request_word *value)
{
    size_t n = strlen(key);
    if (word->n <= n || memcmp(word->at, key, n) != 0 || word->at[n] != '=')
        return false;
    *value = (struct request_word){ word->at + n + 1, word->n - n - 1 };
    return true;
}

/* Read a whole number up to `most`, which has no leading zeros to spare. */
static bool request_number(const struct request_word *word, uint32_t most, uint32_t *out)
{
    uint64_t sum = 0;
    if (!word->n || word->n > 10)
        return false;
    for (size_t i = 0; i < word->n; i++) {
        if (word->at[i] < '0' || word->at[i] > '9')
            return false;
        sum = sum * 10 + (uint64_t)(word->at[i] - '0');
    }
    *out = (uint32_t)sum;
    return sum <= most;
}

static bool request_flag(const struct request_word *word, bool *out)
{
    *out = request_is(word, "1");
    return *out || request_is(word, "0");
}

static bool request_clock(const struct request_word *word, int *out)
{
    char key[16] = "";
    if (word->n >= sizeof key)
        return false;
    memcpy(key, word->at, word->n);
    const struct jsp_clock_row *row = jsp_clock_find(key);
    if (row)
        *out = (int)row->clock;
    return row;
}

/* Read one of the words after the verb. */
static bool request_option(struct jsp_request *r, const struct request_word *word)
{
    struct request_word value;
    if (request_has_key(word, "session", &value))
        return request_number(&value, UINT32_MAX, &r->session);
    if (request_has_key(word, "ms", &value))
        return request_number(&value, UINT32_MAX, &r->ms);
    if (request_has_key(word, "hz", &value))
        return request_number(&value, REQUEST_MOST_HZ, &r->hz) && r->hz;
    if (request_has_key(word, "clock", &value))
        return request_clock(&value, &r->clock);
    if (request_has_key(word, "looker", &value))
        return request_flag(&value, &r->looker);
    if (request_has_key(word, "compact", &value))
        return request_flag(&value, &r->compact);
    if (request_has_key(word, "once", &value))
        return request_flag(&value, &r->once);
    if (request_has_key(word, "stall_us", &value))
        return request_number(&value, request_most_stall_us, &r->stall_us) && r->stall_us;
    if (request_has_key(word, "tasks", &value))
        return request_flag(&value, &r->tasks);
    if (request_has_key(word, "alloc", &value))
        return request_flag(&value, &r->alloc);
    if (request_has_key(word, "modes", &value))
        return request_number(&value, REQUEST_MOST_MODES, &r->modes);
    return false;
}

static bool request_verb(const struct request_word *word, enum jsp_request_verb *out)
{
    static const char *const verbs[] = { "info", "record", "stop", "calls" };
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (request_is(word, verbs[i])) {
            *out = (enum jsp_request_verb)i;
            return true;
        }
    }
    return false;
}

int jsp_request_read(struct jsp_request *out, const char *line, size_t n, uint32_t *word)
{
    const char *at = line, *end = line + n;
    struct request_word next;
    uint32_t version = 0;
    *out = (struct jsp_request){ .hz = REQUEST_USUAL_HZ, .clock = JSP_CLOCK_CPU,
                                 .looker = true };
    *word = 0;
    if (!request_next(&next, &at, end) || !request_is(&next, "jsprof") ||
        !request_next(&next, &at, end) || !request_number(&next, UINT32_MAX, &version) ||
        version != JSP_CONTROL_VERSION)
        return -EPROTO;
    *word = 2;
    if (!request_next(&next, &at, end) || !request_verb(&next, &out->verb))
        return -EINVAL;
    while (request_next(&next, &at, end)) {
        ++*word;
        if (!request_option(out, &next))
            return -EINVAL;
    }
    return 0;
}

const char *jsp_request_done(char to[JSP_REQUEST_DONE], const jsprof_stats *s)
{
    /* The quick turns are apart: the host wanted no samples of them. */
    uint64_t lost = jsp_losses_of_stats(s) - s->lost_quick;
    snprintf(to, JSP_REQUEST_DONE,
             "done expirations=%llu kept=%llu lost=%llu quick=%llu samples=%llu handler_ns=%llu\n",
             (unsigned long long)s->expirations, (unsigned long long)s->kept,
             (unsigned long long)lost, (unsigned long long)s->lost_quick,
             (unsigned long long)s->samples, (unsigned long long)s->handler_ns);
    return to;
}
