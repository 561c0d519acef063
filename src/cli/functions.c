/* cli/functions.c - see functions.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

int cli_functions_read(struct cli_functions *f, const struct cli_capture *c,
                       const jsprof_read_order *order, jsprof_read_error *error)
{
    jsprof_read_functions *from;
    *f = (struct cli_functions){ .sum.size = sizeof f->sum };
    int err = jsprof_read_functions_open(&from, c->reader, order, error);
    if (err)
        return err;
    jsprof_read_functions_sum(from, &f->sum);
    f->n = (uint64_t)jsprof_read_function_rows(from, 0, NULL, 0);
    f->rows = calloc(f->n + 1, sizeof *f->rows);
    bool is_read = f->rows;
    if (is_read) {
        f->rows->size = sizeof *f->rows;
        is_read = jsprof_read_function_rows(from, 0, f->rows, f->n) == (int64_t)f->n;
    }
    jsprof_read_functions_close(from);
    if (!is_read)
        snprintf(error->message, sizeof error->message, "%s", strerror(ENOMEM));
    return is_read ? 0 : -ENOMEM;
}

int cli_functions_open(struct cli_functions *f, const struct cli_capture *c,
                       const jsprof_read_order *order)
{
    jsprof_read_error error = { .size = sizeof error };
    return cli_functions_read(f, c, order, &error) < 0 ? cli_refuse(c, &error, "report") : CLI_OK;
}

void cli_functions_free(struct cli_functions *f)
{
    free(f->rows);
}
