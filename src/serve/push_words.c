/* serve/push_words.c - see push_words.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "push_words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/open.h"

void push_word(char *out, size_t size, const char *text)
{
    size_t n = 0;
    for (; *text && n + 1 < size; text++)
        out[n++] = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                           (*text >= '0' && *text <= '9') || strchr("._-", *text)
                       ? *text : '_';
    out[n] = 0;
}

void push_label(char *out, size_t size, const char *format, const char *key, const char *value)
{
    char clean[2][64];
    size_t n = strlen(out);
    push_word(clean[0], sizeof clean[0], key);
    push_word(clean[1], sizeof clean[1], value);
    snprintf(out + n, size - n, format, clean[0], clean[1]);
}

int push_line_of(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "re");
    bool is_read = f && fgets(out, (int)size, f);
    int err = errno;
    if (f)
        fclose(f);
    if (!f)
        return cli_fail(path, "%s", strerror(err));
    out[strcspn(out, "\r\n")] = 0;
    return is_read && *out ? CLI_OK : cli_fail(path, "its first line is empty");
}
