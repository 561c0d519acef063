/* serve/http.c - see http.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "http.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A piece of the request. */
struct http_span {
    const char *at;
    size_t n;
};

static bool http_copy(char *to, size_t size, struct http_span from)
{
    if (from.n >= size)
        return false;
    memcpy(to, from.at, from.n);
    to[from.n] = 0;
    return true;
}

static int http_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decode %XX. Text that has anything but printable ASCII then is refused, and becomes empty. */
static bool http_decode(char *to, size_t size, struct http_span from)
{
    size_t n = 0;
    for (size_t i = 0; i < from.n; i++, n++) {
        int c = (unsigned char)from.at[i];
        if (c == '%') {
            int high = i + 2 < from.n ? http_digit(from.at[i + 1]) : -1;
            int low = high < 0 ? -1 : http_digit(from.at[i + 2]);
            c = low < 0 ? 0 : high << 4 | low;
            i += 2;
        }
        if (c <= ' ' || c > '~' || n + 1 >= size) {
            *to = 0;
            return false;
        }
        to[n] = (char)c;
    }
    to[n] = 0;
    return true;
}

/* Take a word that ends at a space. */
static struct http_span http_word(struct http_span *line)
{
    const char *space = memchr(line->at, ' ', line->n);
    struct http_span word = { line->at, space ? (size_t)(space - line->at) : line->n };
    size_t used = word.n + (space != NULL);
    *line = (struct http_span){ line->at + used, line->n - used };
    return word;
}

static bool http_is(struct http_span word, const char *text)
{
    return word.n == strlen(text) && memcmp(word.at, text, word.n) == 0;
}

/* Take "http://localhost:4680" off the target. Its name then replaces that of the Host header, as
 * RFC 9112 says (3.2.2), so it has to pass the same check. Return false if it is no such name. */
static bool http_authority(struct http_request *out, struct http_span *target)
{
    static const char scheme[] = "http://";
    size_t begin = sizeof scheme - 1, n = begin;
    if (target->n < begin || strncasecmp(target->at, scheme, begin) != 0)
        return true;
    while (n < target->n && target->at[n] != '/' && target->at[n] != '?')
        n++;
    struct http_span name = { target->at + begin, n - begin };
    *target = (struct http_span){ target->at + n, target->n - n };
    out->is_absolute = true;
    return name.n && http_decode(out->host, sizeof out->host, name);
}

/* Read "GET /path?query HTTP/1.1", or "GET http://host/path?query HTTP/1.1". */
static int http_first(struct http_request *out, struct http_span line)
{
    struct http_span method = http_word(&line), target = http_word(&line);
    if (line.n != 8 || memcmp(line.at, "HTTP/1.", 7) != 0 || !target.n)
        return 400;
    out->needs_host = line.at[7] != '0';
    out->is_head = http_is(method, "HEAD");
    if (!out->is_head && !http_is(method, "GET"))
        return 405;
    if (!http_authority(out, &target))
        return 400;
    const char *query = memchr(target.at, '?', target.n);
    struct http_span path = { target.at, query ? (size_t)(query - target.at) : target.n };
    struct http_span rest = { query ? query + 1 : "", query ? target.n - path.n - 1 : 0 };
    if (out->is_absolute && !path.n) /* nothing follows the name */
        path = (struct http_span){ "/", 1 };
    if (!path.n || *path.at != '/')
        return 400;
    if (path.n >= sizeof out->path || (query && !http_copy(out->query, sizeof out->query, rest)))
        return 414;
    return http_decode(out->path, sizeof out->path, path) ? 200 : 400;
}

/* Return the value of the line if its name is this, without spaces around it. */
static bool http_field(struct http_span line, const char *name, struct http_span *value)
{
    size_t n = strlen(name);
    if (line.n <= n || line.at[n] != ':' || strncasecmp(line.at, name, n) != 0)
        return false;
    struct http_span v = { line.at + n + 1, line.n - n - 1 };
    while (v.n && (*v.at == ' ' || *v.at == '\t'))
        v.at++, v.n--;
    while (v.n && (v.at[v.n - 1] == ' ' || v.at[v.n - 1] == '\t'))
        v.n--;
    *value = v;
    return true;
}

static int http_line(struct http_request *out, struct http_span line)
{
    struct http_span value, length;
    if (http_field(line, "host", &value)) { /* a second one could be meant for somebody else */
        char host[HTTP_WORD];
        bool is_good = !out->has_host && http_decode(host, sizeof host, value);
        out->has_host = true;
        if (is_good && !out->is_absolute)
            strcpy(out->host, host);
        return is_good ? 200 : 400;
    }
    if (http_field(line, "authorization", &value)) {
        if (value.n > 7 && strncasecmp(value.at, "bearer ", 7) == 0 &&
            !http_copy(out->token, sizeof out->token,
                       (struct http_span){ value.at + 7, value.n - 7 }))
            return 431;
        return 200;
    }
    bool has_body = (http_field(line, "content-length", &length) && !http_is(length, "0")) ||
                    http_field(line, "transfer-encoding", &length);
    return has_body ? 413 : 200;
}

int http_read(struct http_request *out, const char *bytes, size_t n)
{
    const char *end = memmem(bytes, n, "\r\n\r\n", 4);
    bool is_first = true;
    memset(out, 0, sizeof *out);
    if (memchr(bytes, 0, end ? (size_t)(end - bytes) : n))
        return 400;
    if (!end)
        return n >= HTTP_MOST ? 431 : 0;
    for (const char *at = bytes; at < end + 2;) {
        const char *stop = memmem(at, (size_t)(end + 2 - at), "\r\n", 2);
        struct http_span line = { at, (size_t)(stop - at) };
        int status = is_first ? http_first(out, line) : http_line(out, line);
        if (status != 200)
            return status;
        is_first = false;
        at = stop + 2;
    }
    if (out->needs_host && !out->has_host)
        return 400;
    if (!*out->token)
        http_value(out, "token", out->token, sizeof out->token);
    return 200;
}

/* Return the value of a key of the query, as it came; at NULL: it is not there. */
static struct http_span http_find(const struct http_request *r, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = r->query; *at;) {
        size_t len = strcspn(at, "&");
        if (len > n && at[n] == '=' && memcmp(at, key, n) == 0)
            return (struct http_span){ at + n + 1, len - n - 1 };
        at += len;
        at += *at == '&';
    }
    return (struct http_span){ NULL, 0 };
}

bool http_value(const struct http_request *r, const char *key, char *out, size_t size)
{
    struct http_span value = http_find(r, key);
    return value.at && http_decode(out, size, value);
}

bool http_number(const struct http_request *r, const char *key, uint32_t most, uint32_t *out)
{
    char text[16] = "";
    uint64_t sum = 0;
    if (!http_find(r, key).at)
        return true;
    if (!http_value(r, key, text, sizeof text))
        return false;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9')
            return false;
        sum = sum * 10 + (uint64_t)(*c - '0');
        if (sum > most)
            return false;
    }
    *out = (uint32_t)sum;
    return *text;
}

bool http_is_local(const struct http_request *r, const char *name)
{
    const char *const names[] = { "127.0.0.1", "localhost", "[::1]", name };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = names[i] ? strlen(names[i]) : 0;
        if (!n || strncasecmp(r->host, names[i], n) != 0)
            continue;
        const char *port = r->host + n + (r->host[n] == ':');
        if (!r->host[n] || (r->host[n] == ':' && !port[strspn(port, "0123456789")]))
            return true;
    }
    return false;
}

bool http_is_token(const char *given, const char *token)
{
    size_t n = strlen(token), m = strlen(given);
    unsigned differs = n != m;
    for (size_t i = 0; i < n; i++)
        differs |= (unsigned)(token[i] ^ given[m ? i % m : 0]);
    return !differs;
}

const char *http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = { { 200, "OK" }, { 400, "Bad Request" }, { 401, "Unauthorized" },
                    { 403, "Forbidden" }, { 404, "Not Found" }, { 405, "Method Not Allowed" },
                    { 413, "Content Too Large" }, { 414, "URI Too Long" },
                    { 431, "Request Header Fields Too Large" },
                    { 503, "Service Unavailable" } };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Internal Server Error";
}

int http_head(char out[HTTP_HEAD], const struct http_answer *a)
{
    return snprintf(out, HTTP_HEAD,
                    "HTTP/1.1 %d %s\r\n"
                    "Content-Type: %s\r\n"
                    "Content-Length: %zu\r\n"
                    "X-Content-Type-Options: nosniff\r\n"
                    "Cache-Control: no-store\r\n"
                    "%s%s%s%s%s"
                    "Connection: close\r\n\r\n",
                    a->status, http_reason(a->status), a->type, a->n,
                    a->status == 200 ? "" : "X-Go-Pprof: 1\r\n",
                    a->status == 401 ? "WWW-Authenticate: Bearer\r\n" : "",
                    a->processes ? "X-Jsprof-Processes: " : "",
                    a->processes ? a->processes : "", a->processes ? "\r\n" : "");
}
