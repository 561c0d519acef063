/* symbols_bundle_test.c - src/image/symbols_bundle.c and kallsyms.c: what `__symbols__`
 * holds, read as both kinds of readers read it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/kallsyms.h"
#include "image/symbols_bundle.h"
#include "test.h"

/* Three that touch; only the outer ones are seen at their edges. */
__asm__(
    ".pushsection .text\n.globl touch_a\n.globl touch_b\n.globl touch_c\n"
    ".type touch_a, %function\ntouch_a: nop\nnop\nnop\n.size touch_a, . - touch_a\n"
    ".type touch_b, %function\ntouch_b: nop\nnop\n.size touch_b, . - touch_b\n"
    ".type touch_c, %function\ntouch_c: nop\n.size touch_c, . - touch_c\n.popsection");
extern char touch_a[], touch_b[], touch_c[];

/* A function that only the unwind tables know. */
__asm__(
    ".pushsection .text\n.p2align 4\n.Lnameless: .cfi_startproc\nnop\nnop\nnop\n.cfi_endproc\n"
    ".p2align 4\n.globl after_nameless\n.type after_nameless, %function\nafter_nameless: nop\n"
    ".size after_nameless, . - after_nameless\n.popsection\n"
    ".pushsection .data\n.p2align 3\n.globl nameless\nnameless: .quad .Lnameless\n.popsection");
extern char *const nameless, after_nameless[];

#ifdef __GLIBC__
enum { HAS_TABLES = 1 };
#else
enum { HAS_TABLES = 0 };
#endif

struct entry {
    uint64_t begin, end;
    int32_t pid;
    uint32_t name, tag, pad;
};

static struct jsp_bundle *bundle;
static uint8_t *file;
static size_t file_size, n_entries;

static uint64_t number(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

static const struct entry *entry(size_t i)
{
    return (const struct entry *)(const void *)file + i;
}

static void begin(void)
{
    jsp_bundle_close(bundle);
    bundle = NULL;
    CHECK_EQ(jsp_bundle_open(&bundle), 0);
}

/* Name what was noted, by the process's map of now. */
static void settle(bool last)
{
    struct jsp_maps maps = { .list = NULL };
    CHECK_EQ(jsp_maps_read(&maps), 0);
    CHECK_EQ(jsp_bundle_settle(bundle, &maps, last), 0);
    jsp_maps_free(&maps);
}

/* Read the file as a reader would, and count its entries. */
static void finish(void)
{
    void *bytes = NULL;
    free(file);
    n_entries = 0;
    settle(true);
    CHECK_EQ(jsp_bundle_file(bundle, 77, &bytes, &file_size), 0);
    file = bytes;
    while (entry(n_entries)->begin || entry(n_entries)->end)
        n_entries++;
    for (size_t i = 0; i < n_entries; i++) {
        const struct entry *e = entry(i);
        CHECK_EQ(e->pid, 77);
        CHECK(e->begin < e->end);
        CHECK(i == 0 || entry(i - 1)->end <= e->begin);
        CHECK(e->name >= (n_entries + 1) * sizeof *e && e->name < file_size);
        CHECK(e->tag == 0 ||
              (e->tag >= (n_entries + 1) * sizeof *e && e->tag < file_size));
    }
    CHECK_EQ(file[file_size - 1], 0);
}

/* The name of an address; readers before release 45 take the end as inclusive. */
static const char *name_of(uint64_t addr, bool inclusive)
{
    const char *name = "";
    for (size_t i = 0; i < n_entries; i++) {
        const struct entry *e = entry(i);
        if (addr < e->begin || addr >= e->end + inclusive)
            continue;
        if (*name)
            return "(two)";
        name = (const char *)file + e->name;
    }
    return name;
}

TEST(every_address_has_its_name_for_both_kinds_of_readers)
{
    uint64_t seen[] = { number(touch_a),
                        number(touch_a) + 1,
                        number(touch_b),
                        number(touch_c),
                        number(dlsym(RTLD_DEFAULT, "getpid")),
                        16 };
    const char *names[] = { "touch_a", "touch_a", "touch_b",
                            "touch_c", "getpid",  "[unknown]" };
    begin();
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        CHECK_EQ(jsp_bundle_see(bundle, seen[i]), true);
    finish();
    CHECK_EQ(n_entries, 5);
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        CHECK_STR(name_of(seen[i], false), names[i]);
        CHECK_STR(name_of(seen[i], true), names[i]);
    }
    size_t at = 0;
    while (at < n_entries && entry(at)->begin != seen[0])
        at++;
    CHECK(at < n_entries);
    CHECK_STR((char *)file + entry(at)->tag, "symbols_bundle_test");
}

TEST(an_address_seen_later_widens_its_entry)
{
    begin();
    jsp_bundle_see(bundle, number(touch_a));
    jsp_bundle_see(bundle, number(touch_b));
    finish();
    CHECK_STR(name_of(number(touch_a) + 1, false), "");
    jsp_bundle_see(bundle, number(touch_a) + 1);
    finish();
    CHECK_EQ(n_entries, 2);
    CHECK_STR(name_of(number(touch_a) + 1, false), "touch_a");
}

TEST(a_function_without_a_symbol_has_the_name_that_the_host_gave)
{
    char longest[2 * JSP_SYMBOL_NAME];
    if (!HAS_TABLES)
        return (void)SKIP("needs unwind tables, from which the length comes");
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    begin();
    jsp_bundle_see(bundle, number(nameless));
    finish();
    CHECK(strncmp(name_of(number(nameless), false), "symbols_bundle_test+0x", 22) == 0);
    begin();
    CHECK_EQ(jsp_bundle_give(bundle, number(nameless), longest), 0);
    CHECK_EQ(jsp_bundle_give(bundle, number(nameless), "an older name"), 0);
    CHECK_EQ(jsp_bundle_give(bundle, number(nameless), "given"), 0);
    CHECK_EQ(jsp_bundle_give(bundle, number(nameless) + 1, "not a beginning"), 0);
    CHECK_EQ(jsp_bundle_give(bundle, number(touch_a), "not needed"), 0);
    jsp_bundle_see(bundle, number(nameless) + 1);
    jsp_bundle_see(bundle, number(touch_a));
    jsp_bundle_see(bundle, number(after_nameless));
    finish();
    CHECK_STR(name_of(number(nameless), false), "given");
    CHECK_STR(name_of(number(nameless) + 2, false), "given");
    CHECK_STR(name_of(number(touch_a), false), "touch_a");
    CHECK_STR(name_of(number(after_nameless), false), "after_nameless");
    jsp_bundle_give(bundle, number(nameless), "too late");
    jsp_bundle_see(bundle, number(nameless) + 2);
    finish();
    CHECK_STR(name_of(number(nameless) + 2, false), "given");
    begin();
    CHECK_EQ(jsp_bundle_give(bundle, number(nameless), longest), 0);
    jsp_bundle_see(bundle, number(nameless));
    finish();
    CHECK_EQ(strlen(name_of(number(nameless), false)), JSP_SYMBOL_NAME - 1);
}

TEST(a_bundle_that_goes_on_in_a_child_has_the_names_given_before)
{
    int status = 1;
    if (!HAS_TABLES)
        return (void)SKIP("needs unwind tables, from which the length comes");
    begin();
    CHECK_EQ(jsp_bundle_give(bundle, number(nameless), "given"), 0);
    pid_t child = fork();
    if (child == 0) {
        struct jsp_bundle *parents = bundle;
        bundle = NULL;
        begin();
        jsp_bundle_take_over(bundle, parents);
        jsp_bundle_see(bundle, number(nameless));
        finish();
        _exit(strcmp(name_of(number(nameless), false), "given") != 0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

TEST(a_bundle_of_another_file_has_the_names_after_the_first_is_closed)
{
    if (!HAS_TABLES)
        return (void)SKIP("needs unwind tables, from which the length comes");
    begin();
    CHECK_EQ(jsp_bundle_give(bundle, number(nameless), "given"), 0);
    struct jsp_bundle *first = bundle;
    bundle = NULL;
    begin();
    jsp_bundle_take_over(bundle, first);
    jsp_bundle_close(first);
    void *poison[64]; /* what the first one freed is used again */
    for (int i = 0; i < 64; i++)
        poison[i] = memset(malloc(16 + (size_t)i), 0xff, 16 + (size_t)i);
    jsp_bundle_see(bundle, number(nameless));
    finish();
    CHECK_STR(name_of(number(nameless), false), "given");
    for (int i = 0; i < 64; i++)
        free(poison[i]);
}

/* Begin with a library that nothing else needs, and see a function of it. */
static void *begin_library(uint64_t *at)
{
    begin();
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return SKIP("needs a libgcc_s.so.1 that this libc loads"), NULL;
    *at = number(dlsym(library, "_Unwind_Backtrace"));
    jsp_bundle_see(bundle, *at);
    return library;
}

TEST(a_closed_library_keeps_the_names_it_was_seen_with)
{
    uint64_t at;
    void *library = begin_library(&at);
    if (!library)
        return;
    settle(false);
    dlclose(library);
    jsp_bundle_see(bundle, at + 1);
    jsp_bundle_see(bundle, number(touch_a));
    finish();
    CHECK_STR(name_of(at, false), "_Unwind_Backtrace");
    CHECK_STR(name_of(at + 1, false), "_Unwind_Backtrace");
}

TEST(a_library_closed_before_its_names_were_read_has_them_by_the_map_it_was_in)
{
    struct jsp_maps before = { .list = NULL };
    uint64_t at;
    void *library = begin_library(&at);
    if (!library)
        return;
    CHECK_EQ(jsp_maps_read(&before), 0);
    dlclose(library);
    if (dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_NOLOAD)) {
        jsp_maps_free(&before);
        SKIP("needs a libgcc_s.so.1 that nobody else loads");
        return;
    }
    settle(false); /* shows nothing there, so it waits */
    CHECK_EQ(jsp_bundle_is_settled(bundle), false);
    CHECK_EQ(jsp_bundle_settle(bundle, &before, false), 0);
    CHECK_EQ(jsp_bundle_is_settled(bundle), true);
    jsp_maps_free(&before);
    finish();
    CHECK_STR(name_of(at, false), "_Unwind_Backtrace");
}

TEST(markers_and_tagged_addresses_are_not_ours)
{
    begin();
    jsp_bundle_see(bundle, 0);
    jsp_bundle_see(bundle, (uint64_t)-512);
    jsp_bundle_see(bundle, 0xE000000012345678u);
    finish();
    CHECK_EQ(n_entries, 0);
}

TEST(too_many_addresses_are_counted)
{
    begin();
    int refused = 0;
    for (uint64_t i = 1; i <= JSP_BUNDLE_ADDRESSES + 3; i++)
        refused += !jsp_bundle_see(bundle, i * 16);
    CHECK_EQ(refused, 3);
    CHECK_EQ(jsp_bundle_missed(bundle), 3);
    CHECK_EQ(jsp_bundle_see(bundle, 16), true);
}

static int scan(char *text, struct jsp_kallsyms_name *list, size_t n)
{
    FILE *in = fmemopen(text, strlen(text), "r");
    int err = in ? jsp_kallsyms_scan(in, list, n) : -1;
    if (in)
        fclose(in);
    return err;
}

TEST(the_kernels_functions_are_found_in_any_order)
{
    char text[] = "ffffffffa0001000 t in_module\t[some]\nffffffff81002000 T second\n"
                  "ffffffff81001000 T first\nffffffff81001800 d data\nnonsense\n"
                  "0000000000000000 T hidden\nffffffff81003000 W third\n";
    struct jsp_kallsyms_name list[] = {
        { .addr = 0xffffffff81000fff }, { .addr = 0xffffffff81001000 },
        { .addr = 0xffffffff81001fff }, { .addr = 0xffffffff81002004 },
        { .addr = 0xffffffff81002008 }, { .addr = 0xffffffffa0001008 },
    };
    const char *names[] = { NULL, "first", "first", "second", "second", "in_module" };
    size_t n = sizeof list / sizeof *list;
    CHECK_EQ(scan(text, list, n), 0);
    for (size_t i = 0; i < n; i++)
        CHECK_STR(list[i].name, names[i]);
    CHECK_EQ(list[0].begin, 0);
    CHECK_EQ(list[1].begin, 0xffffffff81001000);
    CHECK_EQ(list[1].end, 0xffffffff81002000);
    CHECK_EQ(list[3].end, 0xffffffff81003000);
    CHECK_EQ(list[5].end, UINT64_MAX);
    CHECK_STR(list[5].module, "some");
    CHECK(list[1].module == NULL);
    jsp_kallsyms_free(list, n);
}

TEST(an_address_of_the_kernel_is_the_kernels_at_least)
{
    begin();
    jsp_bundle_see(bundle, 0xffff800000000010u);
    finish();
    CHECK_EQ(n_entries, 1);
    CHECK(*name_of(0xffff800000000010u, false) != '\0');
    CHECK_STR((char *)file + entry(0)->tag, "kernel");
}

int main(void)
{
    RUN_ALL();
    jsp_bundle_close(bundle);
    free(file);
    return DONE();
}
