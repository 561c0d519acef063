/* table.c - show what src/image/symtab.c makes of a file, or hold it against what
 * another reader of ELF files says, for the scripts beside it.
 *
 *   table FILE           "begin end name" a line
 *   table FILE symbols   stdin is `readelf -sW`: at the first, middle and last byte of
 *                        each function, its innermost symbol or an alias of that
 *   table FILE starts    stdin is `readelf --debug-dump=frames`: a range begins at each
 *                        FDE, unless a symbol has it
 *
 * DEBUG_ROOT in the environment replaces the system's folder of debug files.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/elf_debug.h"
#include "image/symtab.h"

enum { NAME = 4096, NEAR = 256 };

struct symbol {
    uint64_t begin, end;
    char *name;
};

static struct symbol *symbols;
static size_t n_symbols;
static unsigned long n_good, n_bad;

static void table_print(const struct jsp_symtab *t)
{
    for (size_t i = 0; i < t->n_ranges; i++)
        printf("%016" PRIx64 " %016" PRIx64 " %s\n", t->base + t->ranges[i].begin,
               t->base + t->ranges[i].end, t->names + t->ranges[i].name);
}

static int symbol_order(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Functions that are defined, as readelf prints them. */
static void symbols_read(void)
{
    char line[2 * NAME], size[32], type[32], where[32], name[NAME];
    uint64_t value;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, " %*[0-9]: %" SCNx64 " %31s %31s %*s %*s %31s %4095s", &value,
                   size, type, where, name) != 5)
            continue;
        if ((strcmp(type, "FUNC") && strcmp(type, "IFUNC")) || !strcmp(where, "UND"))
            continue;
        symbols = realloc(symbols, (n_symbols + 1) * sizeof *symbols);
        name[strcspn(name, "@")] = '\0';
        symbols[n_symbols++] =
            (struct symbol){ value, value + strtoull(size, NULL, 0), strdup(name) };
    }
    qsort(symbols, n_symbols, sizeof *symbols, symbol_order);
}

/* Is this the name of the innermost symbol, of those up to the i-th, at `addr`? */
static bool symbols_agree(size_t i, uint64_t addr, const char *name)
{
    uint64_t innermost = 0;
    bool found = false;
    while (i + 1 < n_symbols && symbols[i + 1].begin <= addr)
        i++;
    for (size_t back = 0; back < NEAR && back <= i; back++) {
        const struct symbol *s = &symbols[i - back];
        bool covers = s->begin <= addr && addr < s->end;
        if (!covers || (found && s->begin < innermost))
            continue;
        found = true;
        innermost = s->begin;
        if (name && strcmp(s->name, name) == 0)
            return true;
    }
    return !found;
}

static void table_symbols(const struct jsp_symtab *t)
{
    symbols_read();
    for (size_t i = 0; i < n_symbols; i++) {
        const struct symbol *s = &symbols[i];
        uint64_t size = s->end - s->begin;
        uint64_t at[3] = { s->begin, s->begin + size / 2, s->end - 1 };
        for (size_t k = 0; k < (size ? 3 : 0); k++) {
            const char *name = jsp_symtab_find(t, at[k]).name;
            bool good = symbols_agree(i, at[k], name);
            *(good ? &n_good : &n_bad) += 1;
            if (!good && n_bad < 10)
                printf("%" PRIx64 " of %s: %s\n", at[k], s->name,
                       name ? name : "no name");
        }
    }
}

static void table_starts(const struct jsp_symtab *t)
{
    char line[1024];
    uint64_t begin, end;
    while (fgets(line, sizeof line, stdin)) {
        const char *at = strstr(line, " FDE ") ? strstr(line, "pc=") : NULL;
        if (!at || sscanf(at, "pc=%" SCNx64 "..%" SCNx64, &begin, &end) != 2 ||
            begin == end)
            continue;
        struct jsp_symtab_found f = jsp_symtab_find(t, begin),
                                last = jsp_symtab_find(t, end - 1);
        bool good =
            f.name && (*f.name || (f.begin == begin && f.end <= end)) && last.name;
        *(good ? &n_good : &n_bad) += 1;
        if (!good && n_bad < 10)
            printf("%" PRIx64 "..%" PRIx64 ": %" PRIx64 "..%" PRIx64 " %s\n", begin, end,
                   f.begin, f.end, f.name ? f.name : "nothing");
    }
}

static int table_load(struct jsp_symtab *t, const char *path)
{
    struct jsp_elf elf, debug = { .fd = -1 };
    const char *root = getenv("DEBUG_ROOT");
    struct jsp_elf_debug_place place = { path, root ? root : JSP_ELF_DEBUG_ROOT };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int err = fd < 0 ? -1 : jsp_elf_open(&elf, fd);
    if (err)
        return err;
    bool has_debug = jsp_elf_debug_open(&debug, &elf, place) == 0 ||
                     jsp_elf_debug_inside(&debug, &elf) == 0;
    err = jsp_symtab_load(t, &elf, has_debug ? &debug : NULL);
    jsp_elf_close(&debug);
    jsp_elf_close(&elf);
    return err;
}

int main(int argc, char **argv)
{
    struct jsp_symtab t;
    const char *how = argc > 2 ? argv[2] : "print";
    if (argc < 2 || table_load(&t, argv[1]) < 0) {
        fprintf(stderr, "table: %s: not readable as ELF\n",
                argc > 1 ? argv[1] : "no file");
        return 2;
    }
    if (strcmp(how, "symbols") == 0)
        table_symbols(&t);
    else if (strcmp(how, "starts") == 0)
        table_starts(&t);
    else
        table_print(&t);
    jsp_symtab_free(&t);
    if (n_good + n_bad)
        printf("%lu addresses agree, %lu do not\n", n_good, n_bad);
    return n_bad ? 1 : 0;
}
