/* cli/text.h - text for a person: harmless names of limited width, numbers, colours.
 *
 * A capture may contain any bytes as a name. All names reach the terminal through cli_name or
 * cli_clean, which turn control characters, direction overrides and invalid UTF-8 into visible
 * escapes. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_TEXT_H
#define JSP_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cli_style {
    bool is_colour; /* print escapes for colours */
    bool is_utf8;   /* boxes and blocks may be drawn */
    int columns;    /* of the terminal; 0: no limit */
};

/* Look at standard output, NO_COLOR, COLUMNS and the locale. */
struct cli_style cli_style_get(void);

enum cli_colour { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_HOT, CLI_WARM, CLI_GOOD, CLI_KIND };

/* Print what switches to this colour, if the style has colours. */
void cli_colour(const struct cli_style *s, enum cli_colour c);

/* Return the colour of a share of the time, a part of 1. */
enum cli_colour cli_heat(double share);

struct cli_span {
    const char *at;
    size_t len;
};

/* Return a text that ends in NUL, with its length. */
static inline struct cli_span cli_span(const char *text)
{
    return (struct cli_span){ text, __builtin_strlen(text) };
}

/* Print a name in at most `room` columns (0: no limit); "name (dir/file:line)" loses
 * directories first, and other names lose their middle. Return the columns used. */
int cli_name(const struct cli_style *s, struct cli_span name, int room);

/* Return the same text in memory, without a limit. The caller frees it. NULL: no memory. */
char *cli_clean(const struct cli_style *s, struct cli_span name);

/* Print a sentence of ours that ends with a line, and break it at spaces where it is wider than
 * the terminal, or than 80 columns where there is no limit. */
void cli_wrap(const struct cli_style *s, const char *sentence);

/* What a capture without /proc lacks. */
#define CLI_NO_PROC                                                                          \
    "recorded where /proc was not mounted: code of removed files and of memory without a "   \
    "file has no names; mount it there to have them"

enum { CLI_NUMBER = 32 };

/* Write a number with separators, "12,345". Return `out`. */
const char *cli_count(char out[CLI_NUMBER], uint64_t n);

/* Return how a word ends after this number: "" or "s". */
const char *cli_s(uint64_t n);

/* Write a duration with three digits: "4.56 s", "123 ms", "12 us". Return `out`. */
const char *cli_duration(char out[CLI_NUMBER], uint64_t ns);

/* Write a short duration exactly: "17 ns", "1.23 us", "7.89 s". Return `out`. */
const char *cli_exact_duration(char out[CLI_NUMBER], uint64_t ns);

/* Write a size: "512 B", "1.50 KiB". Return `out`. */
const char *cli_bytes(char out[CLI_NUMBER], uint64_t bytes);

/* Return true if values of this unit of jsprof_read_info are bytes. */
bool cli_unit_is_bytes(const char *unit);

/* Return true if values of this unit are numbers of samples. */
bool cli_unit_is_count(const char *unit);

/* Write a value of this unit of jsprof_read_info, as one of the above. Return `out`. */
const char *cli_value_of(char out[CLI_NUMBER], const char *unit, uint64_t value);

/* Write a share of 1 as "12.3%". Return `out`. */
const char *cli_percent(char out[CLI_NUMBER], double share);

/* Draw a bar of `width` cells: solid for `self`, then light up to `total`. Both are parts of
 * 1. */
void cli_bar(const struct cli_style *s, double self, double total, int width);

/* Where rows are hidden, print how many, in so many columns, and which option shows them. */
void cli_more(int columns, uint32_t n, const char *what);

/* Print a text so many times. */
void cli_repeat(const char *what, int times);

#endif
