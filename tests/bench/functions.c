/* functions.c - the functions of a capture by the reading library, as `jsprof report` lists them:
 * what a program of a user does, for tests/bench/reader.sh and tests/pkg.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>

#include "jsprof-read.h"

int main(int argc, char **argv)
{
    jsprof_reader *r;
    jsprof_read_functions *f;
    jsprof_read_input in = { .size = sizeof in, .path = argc > 1 ? argv[1] : "-" };
    jsprof_read_options o = { .size = sizeof o, .inputs = &in, .n_inputs = 1 };
    jsprof_read_error e = { .size = sizeof e };
    jsprof_read_function row = { .size = sizeof row };
    if (jsprof_read_open(&r, &o, &e) < 0 || jsprof_read_select(r, NULL, &e) < 0 ||
        jsprof_read_functions_open(&f, r, NULL, &e) < 0) {
        fprintf(stderr, "functions: %s\n", e.message);
        return 1;
    }
    for (uint64_t i = 0; i < 30 && jsprof_read_function_rows(f, i, &row, 1) == 1; i++)
        printf("%" PRIu64 " %" PRIu64 " %s\n", row.self, row.total, row.name);
    jsprof_read_functions_close(f);
    jsprof_read_close(r);
    return 0;
}
