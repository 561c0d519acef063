/* sigsafe/text.c - see text.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "text.h"

void jsp_text_flush(struct jsp_text *text)
{
    for (size_t at = 0; at < text->n && !text->err;) {
        ssize_t done = write(text->fd, text->bytes + at, text->n - at);
        if (done > 0)
            at += (size_t)done;
        else if (done < 0 && errno != EINTR)
            text->err = -errno;
    }
    text->n = 0;
}

void jsp_text_put(struct jsp_text *text, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text->n == sizeof text->bytes)
            jsp_text_flush(text);
        text->bytes[text->n++] = bytes[i];
    }
}

void jsp_text_number(struct jsp_text *text, uint64_t value, uint32_t base)
{
    char digits[20], *at = digits + sizeof digits;
    do
        *--at = "0123456789abcdef"[value % base];
    while ((value /= base) != 0);
    jsp_text_put(text, at, (size_t)(digits + sizeof digits - at));
}

void jsp_text_address(struct jsp_text *text, uint64_t address)
{
    JSP_TEXT_PUT(text, "0x");
    jsp_text_number(text, address, 16);
}
