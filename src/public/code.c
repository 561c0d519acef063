/* public/code.c - the public functions by which a host registers the code that it generates.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "public.h"
#include "session/natives.h"
#include "session/session.h"

int jsprof_code_add(jsprof *p, const jsprof_code *code)
{
    if (!p || !code || code->size != sizeof *code || !code->start || !code->length)
        return -EINVAL;
    if ((!code->function && !code->name) || (code->n_lines && !code->lines) ||
        (code->n_rows && !code->rows) || (code->n_pcs && !code->pcs))
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_register_code(p, code);
    public_leave(&host);
    return err;
}

int jsprof_code_remove(jsprof *p, const void *start)
{
    if (!p)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_register_remove(p, (uint64_t)(uintptr_t)start);
    public_leave(&host);
    return err;
}

int jsprof_code_move(jsprof *p, const void *from, const void *to)
{
    if (!p || !to)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_register_move(p, (uint64_t)(uintptr_t)from, (uint64_t)(uintptr_t)to);
    public_leave(&host);
    return err;
}

static int public_range(int (*call)(jsprof *, uint64_t, uint64_t), jsprof *p,
                        const void *start, size_t length)
{
    if (!p || !start)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = call(p, (uint64_t)(uintptr_t)start, length);
    public_leave(&host);
    return err;
}

int jsprof_listing_add(jsprof *p, const jsprof_listing *listing)
{
    if (!p || !listing || listing->size != sizeof *listing || !listing->function ||
        (listing->n_rows && !listing->rows))
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_register_listing(p, listing);
    public_leave(&host);
    return err;
}

int jsprof_symbol_add(jsprof *p, const void *start, const char *name)
{
    if (!p || !start || !name || !*name)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_register_symbol(p, (uint64_t)(uintptr_t)start, name);
    public_leave(&host);
    return err;
}

int jsprof_symbol_find(const void *start, char *name, size_t size)
{
    char found[JSP_SYMBOL_NAME];
    if (!start || !name || !size)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_natives_symbol((uint64_t)(uintptr_t)start, found);
    public_leave(&host);
    if (!err)
        snprintf(name, size, "%s", found);
    return err;
}

int jsprof_interpreter_add(jsprof *p, const void *start, size_t length)
{
    return public_range(jsp_register_loop, p, start, length);
}

int jsprof_interpreter_hide(jsprof *p, const void *start, size_t length)
{
    return public_range(jsp_register_hidden, p, start, length);
}
