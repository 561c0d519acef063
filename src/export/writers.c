/* export/writers.c - what is written of readers that are open.
 *
 * SPDX-License-Identifier: MIT
 */
#include "writers.h"

#include <errno.h>
#include <stdlib.h>

#include "export.h"
#include "merge.h"
#include "read/reader.h"

int jsp_export_of_reader(jsp_export_write *write, jsprof_reader *r, struct jsp_sink *out,
                         const char *title)
{
    return write(&(struct jsp_export){ .profile = &r->profile, .select = &r->choice.select,
                                       .categories = r->choice.categories, .out = out,
                                       .title = title });
}

const char *jsp_merge_refuses_reader(const jsprof_reader *a, const jsprof_reader *b)
{
    return jsp_merge_refuses(&a->profile, &b->profile);
}

int jsp_merge_readers(jsprof_reader *const *readers, uint32_t n, struct jsp_sink *out,
                      struct jsp_merged *merged)
{
    struct jsp_profile **inputs = calloc((size_t)n + 1, sizeof *inputs);
    if (!inputs)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        inputs[i] = &readers[i]->profile;
    struct jsp_merge merge = { .inputs = inputs, .n = n, .out = out };
    int err = jsp_merge_write(&merge);
    *merged = (struct jsp_merged){ merge.renumbered, merge.moved, merge.left_out };
    free(inputs);
    return err;
}
