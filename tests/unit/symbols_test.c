/* symbols_test.c - src/image/symbols.c: names for what this process really has mapped,
 * also if its file is gone or another.
 *
 * The library that comes and goes is a copy of libgcc_s, which no C program uses.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "copy.h"
#include "image/demangle.h"
#include "image/symbols.h"
#include "kernel.h"
#include "test.h"

static struct jsp_maps maps;
static struct jsp_symbols *symbols;
static struct jsp_symbol found;
static char folder[] = "/tmp/jsprof-symbols-XXXXXX", copy[PATH_MAX], other[PATH_MAX];

/* The two touch: the end of one is the beginning of the next. */
__asm__(".pushsection .text\n.globl touching_a\n"
        ".globl touching_b\n.type touching_a, %function\ntouching_a: nop\nnop\n"
        ".size touching_a, . - touching_a\n.type touching_b, %function\ntouching_b: nop\n"
        ".size touching_b, . - touching_b\n.popsection");
extern char touching_a[], touching_b[];

static uint64_t number(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

static const char *name_at(uint64_t addr)
{
    jsp_maps_read(&maps);
    jsp_symbols_resolve(symbols, &maps, addr, &found);
    return found.name;
}

static void fresh(size_t budget)
{
    jsp_symbols_close(symbols);
    symbols = NULL;
    CHECK_EQ(jsp_symbols_open(&symbols, budget), 0);
}

static void *code_of(void *library, const char *name)
{
    return dlsym(library ? library : RTLD_DEFAULT, name);
}

/* The copy, loaded; `*at` is one of its functions. NULL: the test is skipped. */
static void *load(uint64_t *at)
{
    Dl_info info;
    SKIP("needs a libgcc_s.so.1 that this libc loads");
    void *original = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    void *code = original ? code_of(original, "_Unwind_Backtrace") : NULL;
    if (!code || !dladdr(code, &info) || !copy_file(info.dli_fname, copy, -1))
        return NULL;
    dlclose(original);
    void *library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
    test_skipped = library ? NULL : test_skipped;
    *at = library ? number(code_of(library, "_Unwind_Backtrace")) : 0;
    return library;
}

TEST(own_functions_have_name_begin_and_end)
{
    CHECK_STR(name_at(number(touching_a)), "touching_a");
    CHECK_EQ(found.kind, JSP_SYMBOL_NAMED);
    CHECK_EQ(found.begin, number(touching_a));
    CHECK_EQ(found.end, number(touching_b));
    CHECK_STR(found.module, "symbols_test");
    CHECK_STR(name_at(number(touching_b) - 1), "touching_a");
    CHECK_STR(name_at(number(touching_b)), "touching_b");
}

TEST(functions_of_libc_have_their_public_names)
{
    CHECK_STR(name_at(number(code_of(NULL, "qsort"))), "qsort");
    CHECK_STR(name_at(number(code_of(NULL, "malloc")) + 1), "malloc");
    CHECK_STR(name_at(number(code_of(NULL, "getpid"))), "getpid");
}

TEST(the_vdso_tells_the_time)
{
    int named = 0, nameless = 0, seen = 0;
    CHECK_EQ(jsp_maps_read(&maps), 0);
    for (size_t i = 0; i < maps.n; i++) {
        const struct jsp_map *m = &maps.list[i];
        if (strcmp(m->path, "[vdso]") != 0)
            continue;
        for (uint64_t at = m->start; at < m->end; at += 4) {
            jsp_symbols_resolve(symbols, &maps, at, &found);
            seen++;
            named += strstr(found.name, "clock_gettime") != NULL;
            nameless += found.kind > JSP_SYMBOL_MODULE_ONLY;
        }
    }
    if (!seen) {
        SKIP("needs a kernel with a vdso");
        return;
    }
    CHECK(named > 0);
    CHECK_EQ(nameless, 0);
}

TEST(code_without_a_file_and_nothing_at_all_are_told_apart)
{
    void *code =
        mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_STR(name_at(number(code)), "[anonymous memory]");
    munmap(code, 4096);
    CHECK_STR(name_at(8), "[unknown]");
    CHECK_EQ(found.begin, 8);
    CHECK_EQ(found.end, 9);
}

TEST(a_library_that_was_loaded_later_has_names)
{
    uint64_t at = 0;
    void *library = load(&at);
    if (!library)
        return;
    CHECK_STR(name_at(at), "_Unwind_Backtrace");
    CHECK_STR(found.module, "libcopy.so");
    dlclose(library);
    CHECK_STR(name_at(at), "[unknown]");
}

static const struct jsp_map *map_of(uint64_t at)
{
    return jsp_maps_find(&maps, at);
}

TEST(a_deleted_library_keeps_its_names)
{
    uint64_t at = 0;
    void *library = load(&at);
    fresh(JSP_SYMBOLS_BUDGET);
    if (!library || !CHECK_EQ(unlink(copy), 0))
        return;
    CHECK_STR(name_at(at), "_Unwind_Backtrace");
    CHECK(strstr(map_of(at)->path, " (deleted)") != NULL);
    CHECK_STR(found.module, "libcopy.so");
    dlclose(library);
}

static int status_of(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* In a child without privileges, which may be dumped or not. */
static void exit_by_name(uint64_t at, unsigned long is_dumpable)
{
    if (getuid() == 0 && setuid(65534) < 0)
        _exit(3);
    prctl(PR_SET_DUMPABLE, is_dumpable);
    _exit(strcmp(name_at(at), "_Unwind_Backtrace") == 0 ? 0 : 1);
}

/* In a child without the right to follow the kernel's links to mapped files. */
static int name_unprivileged(uint64_t at)
{
    pid_t child = fork();
    if (child == 0)
        exit_by_name(at, 1);
    return status_of(child);
}

TEST(a_replaced_library_is_named_by_its_image_and_not_by_the_new_file)
{
    uint64_t at = 0;
    void *library = load(&at);
    fresh(JSP_SYMBOLS_BUDGET);
    if (!library || !CHECK(copy_file("/proc/self/exe", copy, -1)))
        return;
    CHECK_EQ(name_unprivileged(at), 0);
    CHECK_STR(name_at(at), "_Unwind_Backtrace");
    dlclose(library);
}

/* In a child that /proc/self/mem is closed to, as to a program that may not be dumped: the
 * image is read as the program itself could, and holes in it are no reason to give up. */
static int name_with_a_hole(uint64_t at)
{
    pid_t child = fork();
    if (child == 0) {
        jsp_maps_read(&maps);
        for (size_t i = 0; i < maps.n; i++) {
            const struct jsp_map *m = &maps.list[i];
            if (m->is_writable && strstr(m->path, "libcopy.so"))
                mprotect((void *)(uintptr_t)m->start, m->end - m->start, PROT_NONE);
        }
        exit_by_name(at, 0);
    }
    return status_of(child);
}

TEST(a_replaced_library_with_pages_that_nobody_can_read_keeps_its_names)
{
    uint64_t at = 0;
    if (!kernel_copies()) {
        SKIP("needs process_vm_readv, which no emulator has");
        return;
    }
    void *library = load(&at);
    fresh(JSP_SYMBOLS_BUDGET);
    if (!library || !CHECK(copy_file("/proc/self/exe", copy, -1)))
        return;
    CHECK_EQ(name_with_a_hole(at), 0);
    dlclose(library);
}

static char *fake_demangler(const char *name, char *to, size_t *size, int *status)
{
    (void)to;
    (void)size;
    *status = strcmp(name, "_Z1fv") == 0 ? 0 : -2;
    return *status ? NULL : strdup("f()");
}

/* This program again, as a file that is gone when it looks for itself. */
TEST(a_deleted_program_names_its_own_static_functions)
{
    CHECK(copy_file("/proc/self/exe", other, -1));
    pid_t child = fork();
    if (child == 0) {
        execl(other, other, "deleted", (char *)NULL);
        _exit(9);
    }
    int status = status_of(child);
    if (status == 9) {
        unlink(other);
        SKIP("needs a kernel that runs programs of this machine");
        return;
    }
    CHECK_EQ(status, 0);
    CHECK_EQ(access(other, F_OK), -1);
}

static int run_deleted(const char *program)
{
    if (unlink(program) < 0 || (getuid() == 0 && setuid(65534) < 0))
        return 3;
    prctl(PR_SET_DUMPABLE, 1);
    fresh(JSP_SYMBOLS_BUDGET);
    return strcmp(name_at(number(&fake_demangler)), "fake_demangler") == 0 ? 0 : 1;
}

TEST(a_copy_of_the_same_build_serves_as_well)
{
    uint64_t at = 0;
    void *library = load(&at);
    fresh(JSP_SYMBOLS_BUDGET);
    if (!library || !CHECK(copy_file(copy, other, -1)) ||
        !CHECK_EQ(rename(other, copy), 0))
        return;
    CHECK_EQ(name_unprivileged(at), 0);
    dlclose(library);
}

TEST(what_is_no_elf_file_has_its_module_for_a_name)
{
    int fd = open(copy, O_RDWR | O_CREAT | O_TRUNC, 0755);
    CHECK_EQ(write(fd, "no ELF file", 11), 11);
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    close(fd);
    CHECK_STR(name_at(number(code)), "[libcopy.so]");
    CHECK_EQ(found.kind, JSP_SYMBOL_MODULE_ONLY);
    CHECK_EQ(unlink(copy), 0);
    munmap(code, 4096);
}

TEST(a_small_budget_costs_time_and_no_names)
{
    fresh(1);
    CHECK_STR(name_at(number(code_of(NULL, "getpid"))), "getpid");
    size_t of_libc = jsp_symbols_bytes(symbols);
    CHECK_STR(name_at(number(touching_a)), "touching_a");
    size_t of_ours = jsp_symbols_bytes(symbols);
    CHECK_STR(name_at(number(code_of(NULL, "getpid"))), "getpid");
    CHECK_EQ(jsp_symbols_bytes(symbols), of_libc);
    fresh(of_libc + of_ours);
    name_at(number(touching_a));
    name_at(number(code_of(NULL, "getpid")));
    CHECK_EQ(jsp_symbols_bytes(symbols), of_libc + of_ours);
}

TEST(a_cpp_name_is_shown_as_it_was_written)
{
    char out[16];
    CHECK_EQ(jsp_demangle(fake_demangler, "_Z1fv", out, sizeof out), true);
    CHECK_STR(out, "f()");
    CHECK_EQ(jsp_demangle(fake_demangler, "_Z1fv@plt", out, sizeof out), true);
    CHECK_STR(out, "f()@plt");
    CHECK_EQ(jsp_demangle(fake_demangler, "_Znot", out, sizeof out), false);
    CHECK_STR(out, "_Znot");
    CHECK_EQ(jsp_demangle(NULL, "_Z1fv", out, sizeof out), false);
    CHECK_STR(out, "_Z1fv");
    jsp_demangle(NULL, "fifteen_letters", out, sizeof out);
    CHECK_STR(out, "fifteen_letters");
    jsp_demangle(NULL, "sixteen__letters", out, sizeof out);
    CHECK_STR(out, "sixteen__let...");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return run_deleted(argv[0]);
    if (!mkdtemp(folder) || chmod(folder, 0755) < 0)
        return 1;
    snprintf(copy, sizeof copy, "%s/libcopy.so", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    fresh(JSP_SYMBOLS_BUDGET);
    RUN_ALL();
    jsp_symbols_close(symbols);
    jsp_maps_free(&maps);
    unlink(copy);
    rmdir(folder);
    return DONE();
}
