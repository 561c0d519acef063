/* read/natives.c - files of native code and of scripts: whose names and lines are known.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/lines.h"

/* Describe a file. Return 0 or -ENOMEM. */
static int natives_file(jsprof_reader *r, uint32_t number, jsprof_read_native_file *out)
{
    const struct jsp_native_file *f = &r->profile.natives.files[number];
    *out = (jsprof_read_native_file){
        .size = sizeof *out, .path = f->name, .build_id = jsp_reader_text(r, f->build_id),
        .from = f->from ? f->from : "", .error = f->reason, .is_needed = f->is_needed,
    };
    return out->build_id ? 0 : -ENOMEM;
}

int64_t jsprof_read_native_files(jsprof_reader *r, uint64_t first, jsprof_read_native_file *out,
                                 uint64_t n)
{
    jsprof_read_native_file row;
    int64_t rows;
    if (!jsp_reader_range(r->profile.natives.n, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        if (natives_file(r, (uint32_t)(first + i), &row) < 0)
            return -ENOMEM;
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int64_t jsprof_read_unused_maps(jsprof_reader *r, uint64_t first, jsprof_read_unused_map *out,
                                uint64_t n)
{
    const struct jsp_naming *naming = r->profile.naming;
    const struct jsp_originals *all = naming ? jsp_naming_originals(naming) : NULL;
    struct jsp_originals_defect d;
    uint32_t there = 0;
    int64_t rows;
    while (all && jsp_originals_defect(all, there, &d))
        there++;
    if (!jsp_reader_range(there, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        jsp_originals_defect(all, (uint32_t)(first + i), &d);
        const jsprof_read_unused_map row = { .file = d.file, .why = d.why };
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

/* -- Lines ------------------------------------------------------------------- */

/* Ask for the first `n` addresses, which are of one file. Return 0 or a negative errno. */
static int natives_ask(jsprof_reader *r, const jsprof_read_asker *a,
                       const struct jsp_line_ask *asks, uint32_t n)
{
    jsprof_read_native_file file;
    uint64_t *addresses = calloc(n, sizeof *addresses);
    jsprof_read_place *places = calloc(n, sizeof *places);
    int err = addresses && places ? natives_file(r, asks->at.file, &file) : -ENOMEM;
    for (uint32_t i = 0; err == 0 && i < n; i++) {
        addresses[i] = asks[i].at.vaddr;
        places[i].size = sizeof *places;
    }
    if (err == 0)
        err = a->ask(a->context, &file, addresses, places, n);
    for (uint32_t i = 0; err == 0 && i < n; i++) {
        const char *name = places[i].file ? places[i].file : "";
        err = jsp_lines_answer(&r->profile, &asks[i],
                               (struct jsp_line){ { name, (uint32_t)strlen(name) },
                                                  places[i].line });
    }
    free(addresses);
    free(places);
    return err;
}

int jsprof_read_ask_lines(jsprof_reader *r, const jsprof_read_asker *asker,
                          jsprof_read_error *error)
{
    struct jsp_line_asks asks;
    jsprof_read_asker a;
    jsp_reader_take(&a, sizeof a, asker);
    if (!a.ask)
        return jsp_reader_fail(error, (struct jsp_reader_fault){ .code = -EINVAL, .option = "ask" },
                               "ask is no function");
    int err = jsp_lines_collect(&r->profile, &r->choice.select, &asks);
    if (err < 0)
        return jsp_reader_errno(error, err, NULL);
    for (uint32_t at = 0, n; err == 0 && at < asks.n; at += n) {
        for (n = 1; at + n < asks.n && asks.list[at + n].at.file == asks.list[at].at.file; n++)
            continue;
        err = natives_ask(r, &a, asks.list + at, n);
    }
    jsp_lines_free(&asks);
    r->stack = UINT32_MAX; /* its frames have lines now */
    return jsp_reader_errno(error, err, NULL);
}
