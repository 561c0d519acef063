/* read/source.c - the text of a source, by the path that is shown.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/gresource.h"
#include "analyze/source.h"

struct jsprof_read_source {
    jsprof_reader *reader;
    struct jsp_source of;
};

int jsprof_read_source_open(jsprof_read_source **out, jsprof_reader *r, const char *file,
                            const char *directory, jsprof_read_error *error)
{
    jsprof_read_source *s = calloc(1, sizeof *s);
    if (!s)
        return jsp_reader_errno(error, -ENOMEM, NULL);
    s->reader = r;
    int err = jsp_naming_read(r->profile.naming, &s->of, file, directory);
    if (err == -ENOENT)
        err = jsp_gresource_read(&s->of, &r->profile.lookup, file);
    if (err)
        free(s);
    else
        *out = s;
    return jsp_reader_errno(error, err, file);
}

int jsprof_read_source_of(const jsprof_read_source *s, jsprof_read_found *out)
{
    const int64_t recorded = s->reader->profile.natives.recorded;
    const jsprof_read_found row = { .path = s->of.path, .n_lines = s->of.n_lines,
                                    .is_newer = recorded && s->of.changed > recorded };
    jsp_reader_give(out, 0, &row, sizeof row);
    return 0;
}

const char *jsprof_read_source_line(const jsprof_read_source *s, uint32_t line)
{
    return jsp_reader_text(s->reader, jsp_source_line(&s->of, line));
}

void jsprof_read_source_close(jsprof_read_source *s)
{
    if (!s)
        return;
    jsp_source_free(&s->of);
    free(s);
}
