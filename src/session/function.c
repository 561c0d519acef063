/* session/function.c - jsprof_function: a function of the host, named once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "function.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "sigsafe/names.h"

static _Atomic uint64_t function_serials;

/* "name", "name (file)" or "name (file:line)", cut to what a label holds. */
static int function_format(char *to, size_t size, const struct jsp_function_def *def)
{
    if (!def->file || !*def->file)
        return snprintf(to, size, "%s", def->name);
    if (!def->line)
        return snprintf(to, size, "%s (%s)", def->name, def->file);
    return snprintf(to, size, "%s (%s:%u)", def->name, def->file, (unsigned)def->line);
}

int jsp_function_new(struct jsprof_function **out, const struct jsp_function_def *def)
{
    char text[JSP_LABEL_MAX + 1];
    int len = *def->name ? function_format(text, sizeof text, def) : 0;
    if (len <= 0)
        return -EINVAL;
    uint32_t kept = len < JSP_LABEL_MAX ? (uint32_t)len : JSP_LABEL_MAX;

    struct jsprof_function *f = malloc(sizeof *f + kept + 1);
    if (!f)
        return -ENOMEM;
    f->text = (char *)(f + 1);
    memcpy(f->text, text, kept);
    f->text[kept] = 0;
    f->len = kept;
    f->line = def->line;
    f->kind = (uint8_t)def->kind;
    f->cut = len > JSP_LABEL_MAX;
    /* ORDER: relaxed. Only uniqueness counts. */
    f->serial = atomic_fetch_add_explicit(&function_serials, 1, memory_order_relaxed) + 1;
    *out = f;
    return 0;
}

void jsp_function_free(struct jsprof_function *f)
{
    free(f);
}
