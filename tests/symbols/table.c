/* table.c - print what src/image/symtab.c makes of a file: "begin end name" a line, for
 * the scripts beside it to compare with what other readers of ELF files say.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "image/elf_debug.h"
#include "image/symtab.h"

static void table_print(const struct jsp_symtab *t)
{
    for (size_t i = 0; i < t->n_ranges; i++)
        printf("%016" PRIx64 " %016" PRIx64 " %s\n", t->base + t->ranges[i].begin,
               t->base + t->ranges[i].end, t->names + t->ranges[i].name);
}

static double table_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* table FILE [time] */
int main(int argc, char **argv)
{
    struct jsp_elf elf, debug = { .fd = -1 };
    struct jsp_symtab t;
    double began = table_ms();
    int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 || jsp_elf_open(&elf, fd) < 0) {
        fprintf(stderr, "table: %s: not readable as ELF\n", argc > 1 ? argv[1] : "no file");
        return 2;
    }
    bool has_debug = jsp_elf_debug_open(&debug, &elf, argv[1]) == 0;
    int err = jsp_symtab_load(&t, &elf, has_debug ? &debug : NULL);
    jsp_elf_close(&debug);
    jsp_elf_close(&elf);
    if (err) {
        fprintf(stderr, "table: %s: %s\n", argv[1], strerror(-err));
        return 1;
    }
    if (argc > 2)
        printf("%.1f ms, %zu ranges, %zu KiB\n", table_ms() - began, t.n_ranges,
               (t.n_ranges * sizeof *t.ranges + t.names_size) / 1024);
    else
        table_print(&t);
    jsp_symtab_free(&t);
    return 0;
}
