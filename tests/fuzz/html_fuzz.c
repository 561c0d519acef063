/* html_fuzz.c - any bytes as a capture, and alone or beside itself as a page: whatever it
 * is, the page is whole and its JSON nests.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "page/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct jsp_sink sink;

static void fuzz_check(const struct jsp_bytes *page)
{
    static const char opens[] = "<script type=\"application/json\" id=\"meta\">\n";
    const char *at = memmem(page->at, page->n, opens, sizeof opens - 1);
    const char *end = page->at + page->n;
    int depth = 0;
    bool is_text = false;
    if (!at)
        abort();
    for (at += sizeof opens - 1; at < end && (depth || *at == '{'); at++) {
        if (*at == '\\')
            at++;
        else if (*at == '"')
            is_text = !is_text;
        else if (*at == '<' || (unsigned char)*at < 0x20)
            abort(); /* it would leave its element, or is no JSON */
        else if (!is_text && (*at == '{' || *at == '['))
            depth++;
        else if (!is_text && (*at == '}' || *at == ']'))
            depth--;
    }
    if (depth || is_text || end - at < 10 || memcmp(at, "</script>", 9) != 0)
        abort();
}

static void fuzz_write(const struct jsp_html *h)
{
    struct jsp_bytes page = { 0 };
    jsp_sink_init(&sink, jsp_bytes_write, &page);
    if (jsp_page_write(h) == 0 && jsp_sink_flush(&sink) == 0)
        fuzz_check(&page);
    jsp_bytes_free(&page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jsp_read r;
    struct jsp_profile p;
    struct jsp_profile_samples times = { 0 };
    const struct jsp_profile_options load = { .sampled = jsp_profile_keep,
                                              .sampled_context = &times };
    char why[JSP_READ_WHY];
    void *copy = aligned_alloc(8, (size + 8) & ~(size_t)7);
    if (copy && size)
        memcpy(copy, data, size);
    if (copy && jsp_read_memory(&r, copy, size, why) == 0) {
        if (jsp_profile_load(&p, &r, &load) == 0) {
            const struct jsp_page_capture one = { .profile = &p, .times = &times,
                                                  .label = "</script>" };
            const struct jsp_page_capture both[JSP_HTML_MOST] = { one, one };
            for (uint32_t n = 1; n <= JSP_HTML_MOST; n++)
                fuzz_write(&(struct jsp_html){ .captures = both, .n = n, .out = &sink });
            jsp_profile_free(&p);
        }
        jsp_read_close(&r);
    }
    free(times.list);
    free(copy);
    return 0;
}
