/* http_fuzz.c - any bytes as an HTTP request: what is read of it stays within its limits.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "serve/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_fail(bool bad)
{
    if (bad)
        abort();
}

/* Printable ASCII, which ends within its room. */
static void fuzz_text(const char text[HTTP_WORD])
{
    fuzz_fail(!memchr(text, 0, HTTP_WORD));
    for (; *text; text++)
        fuzz_fail(*text <= ' ' || *text > '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_request r, part;
    uint32_t number = 7;
    char value[24], head[HTTP_HEAD];
    size_t n = size < HTTP_MOST ? size : HTTP_MOST;
    char *bytes = malloc(n + 1); /* exact, so that a byte too many is seen */
    if (!bytes || n == 0) {
        free(bytes);
        return 0;
    }
    bytes = realloc(bytes, n);
    memcpy(bytes, data, n);
    int status = http_read(&r, bytes, n);
    fuzz_fail(status != 0 && status != 200 && (status < 400 || status > 431));
    fuzz_fail(status == 0 && n == HTTP_MOST);
    int first = http_read(&part, bytes, n / 2);
    fuzz_fail(first == 200 && status != 200); /* what follows a whole head changes nothing */
    if (status == 200) {
        fuzz_text(r.path);
        fuzz_text(r.host);
        fuzz_fail(r.path[0] != '/');
        fuzz_fail(r.is_absolute && !*r.host);
        fuzz_fail(r.needs_host && !r.has_host);
        if (http_value(&r, "seconds", value, sizeof value))
            fuzz_fail(strlen(value) >= sizeof value);
        if (http_number(&r, "seconds", 300, &number))
            fuzz_fail(number > 300);
        http_is_local(&r, "a.example");
        fuzz_fail(http_is_token(r.token, "0123456789abcdef") !=
                  (strcmp(r.token, "0123456789abcdef") == 0));
    }
    const struct http_answer answer = { .status = status, .type = "text/plain", .n = n };
    int len = http_head(head, &answer);
    fuzz_fail(len < 0 || len >= HTTP_HEAD);
    free(bytes);
    return 0;
}
