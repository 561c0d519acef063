/* read/listing.c - one function from inside: lines, and rows of bytecode.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/name_parts.h"

struct jsprof_read_listing {
    jsprof_reader *reader;
    struct jsp_annotate of;
    struct jsp_annotate_block *blocks;    /* owned */
    struct jsp_annotate_opcode *opcodes;  /* owned */
    uint32_t n_blocks, n_opcodes;
    struct jsp_read_defects defects;
};

static int listing_build(jsprof_read_listing *l, uint32_t function)
{
    jsprof_reader *r = l->reader;
    const struct jsp_annotate_ask ask = { .function = function, .select = &r->choice.select,
                                          .samples = &r->rows, .defects = &l->defects };
    int err = jsp_annotate_build(&l->of, &r->profile, &ask);
    if (err == 0)
        err = jsp_annotate_blocks(&l->of, &l->blocks, &l->n_blocks);
    return err ? err : jsp_annotate_opcodes(&l->of, &l->opcodes, &l->n_opcodes);
}

int jsprof_read_listing_open(jsprof_read_listing **out, jsprof_reader *r, uint32_t function,
                             jsprof_read_error *error)
{
    if (function >= r->profile.n_functions)
        return jsp_reader_fail(error, (struct jsp_reader_fault){ .code = -ENOENT },
                               "no function of number %u", function);
    jsprof_read_listing *l = calloc(1, sizeof *l);
    if (!l)
        return jsp_reader_errno(error, -ENOMEM, NULL);
    l->reader = r;
    int err = listing_build(l, function);
    if (err)
        jsprof_read_listing_close(l);
    else
        *out = l;
    return jsp_reader_errno(error, err, NULL);
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
                                      .text = jsp_reader_text(l->reader, from->text),
                                      .targets = from->n_targets
                                                     ? l->of.code.targets + from->first_target
                                                     : NULL,
                                      .n_targets = from->n_targets };
        if (!row.text)
            return -ENOMEM;
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

/* Find the source file. A line of native code names its own file, and the name of a script is its
 * file. */
static struct jsp_read_text listing_file(const jsprof_read_listing *l,
                                         const struct jsp_name_parts *parts)
{
    const struct jsp_profile *p = &l->reader->profile;
    struct jsp_read_text file = parts->file;
    for (uint32_t i = 0; !file.len && i < l->of.n_lines; i++)
        if (l->of.lines[i].file)
            file = (struct jsp_read_text){ p->files[l->of.lines[i].file],
                                           (uint32_t)strlen(p->files[l->of.lines[i].file]) };
        else if (jsp_name_is_file(parts->name))
            file = parts->name;
    return file;
}

int jsprof_read_listing_of(const jsprof_read_listing *l, jsprof_read_inside *out)
{
    const struct jsp_annotate *a = &l->of;
    const struct jsp_name_parts parts =
        jsp_name_split(l->reader->profile.functions[a->function].name);
    const jsprof_read_inside row = {
        .value = a->value, .samples = a->samples, .self = a->self, .total = a->total,
        .self_samples = a->self_samples, .total_samples = a->total_samples,
        .in_lines = a->in_lines, .in_rows = a->in_rows,
        .file = jsp_reader_text(l->reader, listing_file(l, &parts)), .line = parts.line,
        .n_claimed = a->code.n_claimed, .has_listing = a->code.is_there,
        .is_shared = a->code.is_shared,
    };
    if (!row.file)
        return -ENOMEM;
    jsp_reader_give(out, 0, &row, sizeof row);
    return 0;
}

int64_t jsprof_read_listing_blocks(const jsprof_read_listing *l, uint64_t first,
                                   jsprof_read_block *out, uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(l->n_blocks, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_annotate_block *from = &l->blocks[first + i];
        const jsprof_read_block row = { .first = from->first, .n = from->n, .self = from->self,
                                        .total = from->total };
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int64_t jsprof_read_operations(const jsprof_read_listing *l, uint64_t first,
                               jsprof_read_operation *out, uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(l->n_opcodes, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_annotate_opcode *from = &l->opcodes[first + i];
        const jsprof_read_operation row = { .name = jsp_reader_text(l->reader, from->name),
                                            .n_rows = from->n_rows, .self = from->self };
        if (!row.name)
            return -ENOMEM;
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int64_t jsprof_read_listing_defects(const jsprof_read_listing *l, uint64_t first,
                                    jsprof_read_defect *out, uint64_t n)
{
    return jsp_reader_defects(&l->defects, first, out, n);
}

void jsprof_read_listing_close(jsprof_read_listing *l)
{
    if (!l)
        return;
    free(l->blocks);
    free(l->opcodes);
    jsp_annotate_free(&l->of);
    free(l);
}
