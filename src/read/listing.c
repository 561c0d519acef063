/* read/listing.c - one function from inside: lines, and rows of bytecode.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

struct jsprof_read_listing {
    jsprof_reader *reader;
    struct jsp_annotate of;
};

int jsprof_read_listing_open(jsprof_read_listing **out, jsprof_reader *r, uint32_t function,
                             jsprof_read_error *error)
{
    const struct jsp_annotate_ask ask = { .function = function, .select = &r->choice.select,
                                          .samples = &r->rows };
    if (function >= r->profile.n_functions)
        return jsp_reader_fail(error, (struct jsp_reader_fault){ .code = -ENOENT },
                               "no function of number %u", function);
    jsprof_read_listing *l = calloc(1, sizeof *l);
    int err = l ? jsp_annotate_build(&l->of, &r->profile, &ask) : -ENOMEM;
    if (err) {
        free(l);
        return jsp_reader_errno(error, err, NULL);
    }
    l->reader = r;
    *out = l;
    return 0;
}

int64_t jsprof_read_listing_lines(const jsprof_read_listing *l, uint64_t first,
                                  jsprof_read_line *out, uint64_t n)
{
    const struct jsp_profile *p = &l->reader->profile;
    int64_t rows;
    if (!jsp_reader_range(l->of.n_lines, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_annotate_line *from = &l->of.lines[first + i];
        const jsprof_read_line line = { .line = from->line, .self = from->cost.self,
                                        .total = from->cost.total,
                                        .file = from->file ? p->files[from->file] : "" };
        jsp_reader_give(out, i, &line, sizeof line);
    }
    return rows;
}

int64_t jsprof_read_listing_rows(const jsprof_read_listing *l, uint64_t first,
                                 jsprof_read_row *out, uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(l->of.code.n, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_bytecode_row *from = &l->of.code.rows[first + i];
        const struct jsp_annotate_cost *cost = &l->of.rows[first + i];
        const jsprof_read_row row = { .pc = from->pc, .line = from->line, .ends = from->ends,
                                      .self = cost->self, .total = cost->total,
                                      .text = jsp_reader_text(l->reader, from->text) };
        if (!row.text)
            return -ENOMEM;
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

void jsprof_read_listing_close(jsprof_read_listing *l)
{
    if (!l)
        return;
    jsp_annotate_free(&l->of);
    free(l);
}
