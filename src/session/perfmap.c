/* session/perfmap.c - see perfmap.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "perfmap.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "image/descriptor.h"
#include "sigsafe/arena.h"

enum { PERFMAP_MODE = 0644, PERFMAP_LINE = JSP_LABEL_MAX + 64 };

/* The format of linux/tools/perf/Documentation/jitdump-specification.txt, version 1. */
enum { DUMP_LOAD = 0, DUMP_CLOSE = 3, DUMP_VERSION = 1 };
#define DUMP_MAGIC 0x4A695444u

struct dump_header {
    uint32_t magic, version, total_size, elf_mach, pad, pid;
    uint64_t timestamp, flags;
};
_Static_assert(sizeof(struct dump_header) == 40, "jitdump header");

struct dump_record {
    uint32_t id, total_size;
    uint64_t timestamp;
};

struct dump_load {
    struct dump_record record;
    uint32_t pid, tid;
    uint64_t vma, code_addr, code_size, code_index;
};
_Static_assert(sizeof(struct dump_load) == 56, "jitdump load");

void jsp_perfmap_init(struct jsp_perfmap *perf)
{
    *perf = (struct jsp_perfmap){ .map_fd = -1, .dump_fd = -1 };
}

/* Open and lock the file, because anybody can guess these names, and one of them is in
 * /tmp. The lock keeps a second session of this process from the file of the first. */
static int perfmap_open(const char *path)
{
    int fd = jsp_descriptor_open_own(path, O_RDWR, PERFMAP_MODE);
    if (fd < 0)
        return fd;
    int err = jsp_descriptor_lock(fd);
    if (!err && ftruncate(fd, 0) < 0)
        err = -errno;
    if (err)
        close(fd);
    return err ? err : fd;
}

int jsp_perfmap_open_map(struct jsp_perfmap *perf)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    int fd = perfmap_open(path);
    if (fd < 0)
        return fd;
    perf->map_fd = fd;
    return 0;
}

static uint32_t dump_machine(void)
{
#if defined(__x86_64__)
    return EM_X86_64;
#else
    return EM_AARCH64;
#endif
}

int jsp_perfmap_open_dump(struct jsp_perfmap *perf, const char *beside)
{
    char path[PATH_MAX];
    struct dump_header head = { DUMP_MAGIC, DUMP_VERSION, sizeof head, dump_machine(), 0,
                                (uint32_t)getpid(), jsp_now_ns(CLOCK_MONOTONIC), 0 };
    const char *slash = strrchr(beside, '/');
    int n = slash ? (int)(slash - beside) + 1 : 0;
    if (snprintf(path, sizeof path, "%.*sjit-%d.dump", n, beside, (int)getpid()) >=
        (int)sizeof path)
        return -ENAMETOOLONG;
    int fd = perfmap_open(path);
    if (fd < 0)
        return fd;
    if (write(fd, &head, sizeof head) != sizeof head) {
        close(fd);
        return -EIO;
    }
    /* perf record notices this mapping, by which it finds the file afterwards. */
    void *marker = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC,
                        MAP_PRIVATE, fd, 0);
    perf->marker = marker == MAP_FAILED ? NULL : marker;
    perf->dump_fd = fd;
    return 0;
}

/* Write the whole entry or nothing. Return 0 or a negative errno; -EIO if only a part was
 * written. */
static int perfmap_write(int fd, const struct iovec *parts, int n)
{
    off_t before = lseek(fd, 0, SEEK_CUR);
    ssize_t want = 0;
    for (int i = 0; i < n; i++)
        want += (ssize_t)parts[i].iov_len;
    ssize_t done = writev(fd, parts, n);
    if (done == want)
        return 0;
    int err = done < 0 ? -errno : -EIO;
    return done > 0 && ftruncate(fd, before) < 0 ? -errno : err;
}

/* Close a file that did not take an entry. */
static void perfmap_check(struct jsp_perfmap *perf, int *fd, int err)
{
    if (!err)
        return;
    if (!perf->error)
        perf->error = err;
    close(*fd);
    *fd = -1;
}

static void perfmap_line(struct jsp_perfmap *perf, const struct jsp_perfmap_code *code)
{
    char line[PERFMAP_LINE];
    int n = snprintf(line, sizeof line, "%" PRIx64 " %" PRIx64 " %s\n", code->start,
                     code->length, code->name);
    for (int i = 0; i < n - 1; i++)
        if (line[i] == '\n') /* a newline in a name would end the entry */
            line[i] = ' ';
    struct iovec part = { line, (size_t)n };
    perfmap_check(perf, &perf->map_fd, perfmap_write(perf->map_fd, &part, 1));
}

static void dump_load(struct jsp_perfmap *perf, const struct jsp_perfmap_code *code)
{
    size_t name = strlen(code->name) + 1;
    struct dump_load load = {
        .record = { DUMP_LOAD, (uint32_t)(sizeof load + name + code->length), code->time_ns },
        .pid = (uint32_t)getpid(), .tid = (uint32_t)syscall(SYS_gettid),
        .vma = code->start, .code_addr = code->start, .code_size = code->length,
        .code_index = perf->index++,
    };
    struct iovec parts[] = {
        { &load, sizeof load },
        { (void *)(uintptr_t)code->name, name },
        { (void *)(uintptr_t)code->start, code->length },
    };
    perfmap_check(perf, &perf->dump_fd, perfmap_write(perf->dump_fd, parts, 3));
}

void jsp_perfmap_add(struct jsp_perfmap *perf, const struct jsp_perfmap_code *code)
{
    if (perf->map_fd >= 0)
        perfmap_line(perf, code);
    if (perf->dump_fd >= 0)
        dump_load(perf, code);
}

void jsp_perfmap_abandon(struct jsp_perfmap *perf)
{
    if (perf->dump_fd >= 0)
        close(perf->dump_fd);
    if (perf->map_fd >= 0)
        close(perf->map_fd);
    if (perf->marker)
        munmap(perf->marker, (size_t)sysconf(_SC_PAGESIZE));
    int err = perf->error;
    jsp_perfmap_init(perf);
    perf->error = err;
}

void jsp_perfmap_close(struct jsp_perfmap *perf)
{
    struct dump_record end = { DUMP_CLOSE, sizeof end, jsp_now_ns(CLOCK_MONOTONIC) };
    struct iovec part = { &end, sizeof end };
    if (perf->dump_fd >= 0)
        perfmap_check(perf, &perf->dump_fd, perfmap_write(perf->dump_fd, &part, 1));
    if (perf->dump_fd >= 0)
        jsp_descriptor_unlock(perf->dump_fd);
    if (perf->map_fd >= 0)
        jsp_descriptor_unlock(perf->map_fd);
    jsp_perfmap_abandon(perf);
}
