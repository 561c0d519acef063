/* image/kallsyms.c - see kallsyms.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bisect.h"
#include "descriptor.h"

/* Read a line such as "ffffffff81000000 T _text [module]". Note that a function begins there: it
 * may be the nearest one before the next address of the list, and it may end the function of the
 * address before. */
static int kallsyms_line(char *line, struct jsp_kallsyms_name *list, size_t n)
{
    char *rest, *save = NULL;
    uint64_t addr = strtoull(line, &rest, 16);
    if (!addr || rest[0] != ' ' || !rest[1] || !strchr("TtWw", rest[1]) || rest[2] != ' ')
        return 0;
    const char *name = strtok_r(rest + 3, " \t\n", &save);
    const char *module = strtok_r(NULL, " \t\n[]", &save);
    if (!name)
        return 0;
    struct jsp_bisect_number than = { offsetof(struct jsp_kallsyms_name, addr), addr };
    size_t at = jsp_bisect_below(list, n, sizeof *list, than); /* of the first at or above */
    if (at > 0 && addr < list[at - 1].end)
        list[at - 1].end = addr;
    if (at == n || addr <= list[at].begin)
        return 0;
    char *own = strdup(name), *from = module ? strdup(module) : NULL;
    if (!own || (module && !from)) {
        free(own);
        free(from);
        return -ENOMEM;
    }
    free(list[at].name);
    free(list[at].module);
    list[at].begin = addr;
    list[at].name = own;
    list[at].module = from;
    return 0;
}

/* Addresses without a function right before them share that of the address below. */
static int kallsyms_share(struct jsp_kallsyms_name *list, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (list[i].begin || !list[i - 1].begin)
            continue;
        list[i].begin = list[i - 1].begin;
        list[i].name = strdup(list[i - 1].name);
        list[i].module = list[i - 1].module ? strdup(list[i - 1].module) : NULL;
        if (!list[i].name || (list[i - 1].module && !list[i].module))
            return -ENOMEM;
    }
    for (size_t i = n; i-- > 1;)
        if (list[i - 1].begin == list[i].begin)
            list[i - 1].end = list[i].end;
    return 0;
}

int jsp_kallsyms_scan(FILE *in, struct jsp_kallsyms_name *list, size_t n)
{
    char *line = NULL;
    size_t room = 0;
    int err = 0;
    for (size_t i = 0; i < n; i++)
        list[i].end = UINT64_MAX;
    while (!err && getline(&line, &room, in) > 0)
        err = kallsyms_line(line, list, n);
    free(line);
    return err ? err : kallsyms_share(list, n);
}

int jsp_kallsyms_read(struct jsp_kallsyms_name *list, size_t n)
{
    int fd = jsp_descriptor_open("/proc/kallsyms", O_RDONLY, 0);
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    if (!in) {
        if (fd >= 0)
            close(fd);
        return fd < 0 ? fd : -ENOMEM;
    }
    int err = jsp_kallsyms_scan(in, list, n);
    fclose(in);
    for (size_t i = 0; !err && i < n; i++)
        if (list[i].begin)
            return 0;
    return err ? err : -EACCES;
}

void jsp_kallsyms_free(struct jsp_kallsyms_name *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(list[i].name);
        free(list[i].module);
    }
}
