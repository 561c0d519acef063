/* unit/perfmap_test.c - src/session/perfmap.c: /tmp/perf-PID.map and the jitdump, byte
 * by byte.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/perfmap.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static struct jsp_perfmap perf;
static char beside[64], map_path[64], directory[] = "/tmp/jsprof-perfmap-XXXXXX", dump_path[128];
static unsigned char bytes[1 << 16];

static size_t contents(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof bytes - 1);
    if (fd >= 0)
        close(fd);
    bytes[n < 0 ? 0 : n] = 0;
    return n < 0 ? 0 : (size_t)n;
}

static void add(const void *start, size_t length, const char *name, uint64_t time_ns)
{
    struct jsp_perfmap_code code = { (uint64_t)(uintptr_t)start, length, name, time_ns };
    jsp_perfmap_add(&perf, &code);
}

static uint32_t word(size_t at)
{
    uint32_t value;
    memcpy(&value, bytes + at, sizeof value);
    return value;
}

static uint64_t wide(size_t at)
{
    uint64_t value;
    memcpy(&value, bytes + at, sizeof value);
    return value;
}

static void begin(void)
{
    unlink(map_path);
    unlink(dump_path);
    jsp_perfmap_init(&perf);
}

TEST(map_holds_a_line_for_each_function)
{
    begin();
    CHECK_EQ(jsp_perfmap_open_map(&perf), 0);
    add((void *)(uintptr_t)0x7F0012345000, 0x1A0, "fib (fib.lark:3)", 5);
    add((void *)(uintptr_t)0x10, 1, "two\nlines", 6);
    char *name = malloc(1024);
    memset(name, 'x', 1023);
    name[1023] = 0;
    add((void *)(uintptr_t)0x20, 2, name, 7);
    jsp_perfmap_close(&perf);
    size_t n = contents(map_path);
    const char *head = "7f0012345000 1a0 fib (fib.lark:3)\n10 1 two lines\n20 2 xxx";
    CHECK(n > strlen(head) && memcmp(bytes, head, strlen(head)) == 0);
    CHECK_EQ(n, strlen(head) - 3 + 1023 + 1);
    CHECK_EQ(bytes[n - 1], '\n');
    free(name);
    unlink(map_path);
}

TEST(planted_link_is_refused_and_its_target_untouched)
{
    char target[160];
    begin();
    snprintf(target, sizeof target, "%s/target", directory);
    int fd = open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK_EQ(write(fd, "mine", 4), 4);
    close(fd);
    CHECK_EQ(symlink(target, map_path), 0);
    CHECK_EQ(symlink(target, dump_path), 0);
    CHECK_EQ(jsp_perfmap_open_map(&perf), -ELOOP);
    CHECK_EQ(jsp_perfmap_open_dump(&perf, target), -ELOOP);
    CHECK(perf.map_fd < 0 && perf.dump_fd < 0);
    CHECK_EQ(contents(target), 4);
    jsp_perfmap_close(&perf);
    unlink(target);
    begin();
    CHECK_EQ(jsp_perfmap_open_dump(&perf, "/nowhere/at/all.cap"), -ENOENT);
}

static void check_header(void)
{
    CHECK_EQ(word(0), 0x4A695444); /* "JiTD" in this machine's order */
    CHECK_EQ(word(4), 1);
    CHECK_EQ(word(8), 40);
#if defined(__x86_64__)
    CHECK_EQ(word(12), EM_X86_64);
#else
    CHECK_EQ(word(12), EM_AARCH64);
#endif
    CHECK_EQ(word(20), getpid());
    CHECK(wide(24) > 0);
    CHECK_EQ(wide(32), 0);
}

static const unsigned char code[] = { 0x90, 0x90, 0x0F, 0x0B, 0xC3 };

/* Check a record of code at `at`. Return where the next one is. */
static size_t check_load(size_t at, const char *name, uint64_t index, uint64_t time_ns)
{
    size_t name_bytes = strlen(name) + 1;
    CHECK_EQ(word(at), 0);
    CHECK_EQ(word(at + 4), 56 + name_bytes + sizeof code);
    CHECK_EQ(wide(at + 8), time_ns);
    CHECK_EQ(word(at + 16), getpid());
    CHECK_EQ(word(at + 20), gettid());
    CHECK_EQ(wide(at + 24), (uintptr_t)code);
    CHECK_EQ(wide(at + 32), (uintptr_t)code);
    CHECK_EQ(wide(at + 40), sizeof code);
    CHECK_EQ(wide(at + 48), index);
    CHECK_STR((const char *)bytes + at + 56, name);
    CHECK_EQ(memcmp(bytes + at + 56 + name_bytes, code, sizeof code), 0);
    return at + word(at + 4);
}

/* perf record finds the dump by an executable mapping of it. */
static bool is_mapped(void)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        found = found || (strstr(line, dump_path) && strstr(line, " r-xp "));
    if (maps)
        fclose(maps);
    return found;
}

TEST(dump_holds_the_code_itself)
{
    begin();
    CHECK_EQ(jsp_perfmap_open_dump(&perf, beside), 0);
    CHECK(is_mapped());
    add(code, sizeof code, "first", 1111);
    add(code, sizeof code, "second (x:1)", 2222);
    jsp_perfmap_close(&perf);
    CHECK(!is_mapped());
    size_t n = contents(dump_path);
    check_header();
    size_t at = check_load(40, "first", 0, 1111);
    at = check_load(at, "second (x:1)", 1, 2222);
    CHECK_EQ(n, at + 16);
    CHECK_EQ(word(at), 3);
    CHECK_EQ(word(at + 4), 16);
    CHECK(wide(at + 8) >= wide(24));
}

TEST(code_that_can_not_be_read_gives_up_the_dump_only)
{
    begin();
    void *closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_EQ(jsp_perfmap_open_map(&perf), 0);
    CHECK_EQ(jsp_perfmap_open_dump(&perf, beside), 0);
    add(closed, 4096, "unreadable", 1);
    add(code, sizeof code, "after", 2);
    CHECK(perf.dump_fd < 0 && perf.map_fd >= 0);
    jsp_perfmap_close(&perf);
    contents(map_path);
    CHECK(strstr((char *)bytes, " unreadable\n") && strstr((char *)bytes, " after\n"));
    munmap(closed, 4096);
}

TEST(dump_ends_with_its_last_whole_function_when_one_is_unreadable)
{
    begin();
    void *closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_EQ(jsp_perfmap_open_dump(&perf, beside), 0);
    add(code, sizeof code, "whole", 1111);
    size_t whole = contents(dump_path);
    CHECK_EQ(perf.error, 0);
    add(closed, 4096, "unreadable", 2222);
    CHECK(perf.dump_fd < 0 && perf.error < 0);
    CHECK_EQ(contents(dump_path), whole);
    CHECK_EQ(check_load(40, "whole", 0, 1111), whole);
    jsp_perfmap_close(&perf);
    CHECK(perf.error < 0);
    munmap(closed, 4096);
}

TEST(first_error_of_a_full_map_is_kept)
{
    begin();
    perf.map_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    add(code, sizeof code, "f", 1);
    CHECK(perf.map_fd < 0);
    CHECK_EQ(perf.error, -ENOSPC);
    jsp_perfmap_close(&perf);
}

TEST(child_of_a_fork_lets_go_without_a_byte)
{
    begin();
    CHECK_EQ(jsp_perfmap_open_dump(&perf, beside), 0);
    add(code, sizeof code, "parent", 1);
    size_t before = contents(dump_path);
    jsp_perfmap_abandon(&perf);
    CHECK_EQ(contents(dump_path), before);
    CHECK(perf.dump_fd < 0 && !is_mapped());
}

int main(void)
{
    snprintf(map_path, sizeof map_path, "/tmp/perf-%d.map", (int)getpid());
    if (!mkdtemp(directory))
        return 1;
    snprintf(dump_path, sizeof dump_path, "%s/jit-%d.dump", directory, (int)getpid());
    snprintf(beside, sizeof beside, "%s/x.cap", directory);
    RUN_ALL();
    unlink(map_path);
    unlink(dump_path);
    rmdir(directory);
    return DONE();
}
