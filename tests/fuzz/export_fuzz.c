/* export_fuzz.c - any bytes as a capture, through every export.
 *
 * SPDX-License-Identifier: MIT
 *
 * Whatever the capture says: no byte comes out that acts on a terminal, JSON nests and
 * ends its strings, and the values of the folded stacks are those of the profile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_format {
    jsp_export_write *write;
    bool is_json, is_text;
};

static const struct fuzz_format fuzz_formats[] = {
    { jsp_export_pprof, false, false },     { jsp_export_otlp, false, false },
    { jsp_export_firefox, true, true },     { jsp_export_speedscope, true, true },
    { jsp_export_chrome, true, true },      { jsp_export_folded, false, true },
    { jsp_export_perf, false, true },       { jsp_export_csv, false, true },
    { jsp_export_json, true, true },        { jsp_export_callgrind, false, true },
};

static void fuzz_text(const struct jsp_bytes *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (((unsigned char)b->at[i] < 0x20 && b->at[i] != '\n' && b->at[i] != '\t') ||
            b->at[i] == 0x7f)
            abort();
}

/* One string at `i`, the quote; returns where it ends. */
static size_t fuzz_string(const struct jsp_bytes *b, size_t i)
{
    for (i++; i < b->n && b->at[i] != '"'; i++)
        i += b->at[i] == '\\';
    if (i >= b->n)
        abort();
    return i;
}

static void fuzz_json(const struct jsp_bytes *b)
{
    char open[64];
    size_t depth = 0;
    for (size_t i = 0; i < b->n; i++) {
        char c = b->at[i];
        if (c == '"')
            i = fuzz_string(b, i);
        else if (c == '{' || c == '[')
            open[depth++ % sizeof open] = c;
        else if ((c == '}' || c == ']') &&
                 (depth == 0 || open[--depth % sizeof open] != (c == '}' ? '{' : '[')))
            abort();
    }
    if (depth || b->n == 0)
        abort();
}

static uint64_t fuzz_folded(const struct jsp_bytes *b)
{
    uint64_t sum = 0, number = 0;
    for (size_t i = 0; i < b->n; i++) {
        bool is_digit = b->at[i] >= '0' && b->at[i] <= '9';
        if (b->at[i] == '\n')
            sum += number;
        number = is_digit ? 10 * number + (uint64_t)(b->at[i] - '0') : 0;
    }
    return sum;
}

static void fuzz_format(struct jsp_profile *p, const struct jsp_categories *categories,
                        const struct fuzz_format *format)
{
    static struct jsp_sink sink;
    struct jsp_bytes bytes = { 0 };
    struct jsp_select all = { 0 };
    struct jsp_export e = { .profile = p, .select = &all, .out = &sink,
                            .categories = categories, .title = "fuzz" };
    jsp_sink_init(&sink, jsp_bytes_write, &bytes);
    int err = format->write(&e);
    if (jsp_sink_flush(&sink) < 0 || err == -ENOMEM) {
        jsp_bytes_free(&bytes);
        return;
    }
    bool is_more = format->write == jsp_export_callgrind; /* it has exact calls, too */
    if (err == 0 ? p->samples == 0 && !is_more : err != -ENODATA || p->samples)
        abort();
    if (format->is_text)
        fuzz_text(&bytes);
    if (format->is_json && err == 0)
        fuzz_json(&bytes);
    if (format->write == jsp_export_folded && fuzz_folded(&bytes) != p->value)
        abort();
    jsp_bytes_free(&bytes);
}

static void fuzz_measure(const struct jsp_read *r, const struct jsp_categories *categories,
                         enum jsp_value measure)
{
    struct jsp_profile_options options = { .measure = measure };
    struct jsp_profile p;
    if (jsp_profile_load(&p, r, &options) != 0)
        return;
    for (size_t i = 0; i < sizeof fuzz_formats / sizeof *fuzz_formats; i++)
        fuzz_format(&p, categories, &fuzz_formats[i]);
    jsp_profile_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum jsp_value measures[] = { JSP_VALUE_COUNT, JSP_VALUE_ALLOC, JSP_VALUE_LIVE };
    struct jsp_read r;
    struct jsp_categories *categories = NULL;
    struct jsp_categories_defect defect;
    char why[JSP_READ_WHY];
    /* 8-byte aligned, as a mapped file is. */
    void *bytes = aligned_alloc(8, (size + 15) & ~(size_t)7);
    if (!bytes)
        return 0;
    memcpy(bytes, data, size);
    if (jsp_read_memory(&r, bytes, size, why) == 0) {
        if (jsp_categories_open(&categories, (struct jsp_read_text){ "", 0 }, &defect) == 0)
            for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
                fuzz_measure(&r, categories, measures[i]);
        jsp_categories_close(categories);
        jsp_read_close(&r);
    }
    free(bytes);
    return 0;
}
