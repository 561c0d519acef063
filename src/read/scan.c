/* read/scan.c - what a capture says about itself, and the files in it: one pass over its frames,
 * when the first of them is asked for.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/wire.h"

static int scan_datum(jsprof_reader *r, const struct jsp_read_cursor *c,
                      const struct jsp_read_frame *f)
{
    struct jsp_read_pair pair;
    if (!jsp_read_pair(c, f, &pair))
        return 0;
    const jsprof_read_datum datum = { .key = jsp_reader_text(r, pair.key),
                                      .value = jsp_reader_text(r, pair.value),
                                      .time = f->time - r->profile.start_time,
                                      .process = f->pid,
                                      .is_message = f->type == JSP_WIRE_LOG };
    if (!datum.key || !datum.value ||
        jsp_grow(&r->data, &r->data_room, r->n_data, sizeof *r->data) < 0)
        return -ENOMEM;
    r->data[r->n_data++] = datum;
    return 0;
}

/* Find a process's file, or add it. NULL: no memory. */
static struct jsp_reader_file *scan_file(jsprof_reader *r, struct jsp_read_text path, int32_t pid)
{
    uint64_t seed = r->by_file.seed ^ (uint32_t)pid;
    uint32_t hash = (uint32_t)(jsp_hash_bytes(seed, path.at, path.len) >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&r->by_file, hash, &probe)) != 0)
        if (r->files[at - 1].shown.process == pid && jsp_read_equal(r->files[at - 1].path, path))
            return &r->files[at - 1];
    const char *shown = jsp_reader_text(r, path);
    if (!shown || jsp_grow(&r->files, &r->files_room, r->n_files, sizeof *r->files) < 0 ||
        jsp_hash_add(&r->by_file, hash, r->n_files) < 0)
        return NULL;
    struct jsp_reader_file *file = &r->files[r->n_files++];
    *file = (struct jsp_reader_file){ .shown = { .path = shown, .process = pid }, .path = path };
    return file;
}

static int scan_chunk(jsprof_reader *r, const struct jsp_read_cursor *c,
                      const struct jsp_read_frame *f)
{
    struct jsp_read_chunk chunk;
    if (!jsp_read_chunk(c, f, &chunk))
        return 0;
    struct jsp_reader_file *file = scan_file(r, chunk.path, f->pid);
    if (r->n_parts == 0)
        r->n_parts = 1;
    if (!file || jsp_grow(&r->parts, &r->parts_room, r->n_parts, sizeof *r->parts) < 0)
        return -ENOMEM;
    r->parts[r->n_parts] = (struct jsp_reader_part){ chunk.data, chunk.len, 0 };
    if (file->first_part)
        r->parts[file->last_part].next = r->n_parts;
    else
        file->first_part = r->n_parts;
    file->last_part = r->n_parts++;
    file->shown.n_bytes += chunk.len;
    file->shown.is_complete |= chunk.is_last;
    return 0;
}

static int scan_all(jsprof_reader *r)
{
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    int err = 0;
    if (r->is_scanned)
        return 0;
    r->n_data = r->n_files = r->n_parts = 0;
    jsp_hash_free(&r->by_file);
    err = jsp_hash_init(&r->by_file, 0);
    jsp_read_start(&c, &r->read, NULL);
    while (err == 0 && jsp_read_next(&c, &f)) {
        if (f.type == JSP_WIRE_METADATA || f.type == JSP_WIRE_LOG)
            err = scan_datum(r, &c, &f);
        else if (f.type == JSP_WIRE_FILE_CHUNK)
            err = scan_chunk(r, &c, &f);
    }
    r->is_scanned = err == 0;
    return err;
}

int64_t jsprof_read_metadata(jsprof_reader *r, uint64_t first, jsprof_read_datum *out, uint64_t n)
{
    int64_t rows;
    if (scan_all(r) < 0)
        return -ENOMEM;
    if (jsp_reader_range(r->n_data, first, n, out, &rows))
        for (uint64_t i = 0; i < (uint64_t)rows; i++)
            jsp_reader_give(out, i, &r->data[first + i], sizeof *r->data);
    return rows;
}

int64_t jsprof_read_files(jsprof_reader *r, uint64_t first, jsprof_read_file *out, uint64_t n)
{
    int64_t rows;
    if (scan_all(r) < 0)
        return -ENOMEM;
    if (jsp_reader_range(r->n_files, first, n, out, &rows))
        for (uint64_t i = 0; i < (uint64_t)rows; i++)
            jsp_reader_give(out, i, &r->files[first + i].shown, sizeof r->files->shown);
    return rows;
}

int64_t jsprof_read_file_bytes(jsprof_reader *r, uint64_t file, uint64_t from, void *out,
                               uint64_t n)
{
    uint64_t stored = 0;
    if (scan_all(r) < 0)
        return -ENOMEM;
    if (file >= r->n_files)
        return -EINVAL;
    for (uint32_t i = r->files[file].first_part; i && stored < n; i = r->parts[i].next) {
        const struct jsp_reader_part *part = &r->parts[i];
        if (from >= part->len) {
            from -= part->len;
            continue;
        }
        uint64_t left = part->len - from, most = n - stored < left ? n - stored : left;
        memcpy((char *)out + stored, part->at + from, most);
        stored += most;
        from = 0;
    }
    return (int64_t)stored;
}
