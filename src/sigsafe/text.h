/* sigsafe/text.h - text that a signal handler writes to a descriptor. Any thread;
 * signal-safe.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_TEXT_H
#define JSP_SIGSAFE_TEXT_H

#include "room.h"

enum { JSP_TEXT_BYTES = 512 };

/* Begin with all fields but fd zero. */
struct jsp_text {
    int fd;
    int err; /* of the first failed write: the rest is dropped */
    size_t n;
    char bytes[JSP_TEXT_BYTES];
};

/* Write the bytes that are not written yet. */
void jsp_text_flush(struct jsp_text *text);

/* Append `n` bytes, and write the buffer out whenever it is full. */
void jsp_text_put(struct jsp_text *text, const char *bytes, size_t n);

/* Append a number in base 10 or 16. */
void jsp_text_number(struct jsp_text *text, uint64_t value, uint32_t base);

/* Append an address in hexadecimal, with 0x. */
void jsp_text_address(struct jsp_text *text, uint64_t address);

#define JSP_TEXT_PUT(text, string) jsp_text_put(text, string, sizeof string - 1)

#endif
