/* cli/csv.h - one field of comma-separated values.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_CSV_H
#define JSP_CLI_CSV_H

#include "cli/text.h"

/* In quotes, those inside doubled; exact otherwise, for a program reads it. */
static inline void cli_csv(struct cli_span text)
{
    putchar('"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '"')
            putchar('"');
        putchar(text.at[i]);
    }
    putchar('"');
}

#endif
