/* image/loaded.c - see loaded.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loaded.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/uio.h>

#include "base/block.h"
#include "descriptor.h"
#include "elf.h"
#include "elf_debug.h"
#include "forkgate.h"

enum {
    LOADED_CHUNK = 1 << 18,
    LOADED_LOOK = 4096,
    LOADED_NOTES = 4,   /* groups of notes that are searched for the build id */
    LOADED_NOTE = 512,  /* bytes of each */
    PE_PCREL_SDATA4 = 0x1B
};
_Static_assert(LOADED_NOTES * LOADED_NOTE <= LOADED_LOOK, "notes are read into `look`");

struct loaded_walk {
    struct jsp_loaded_seen *seen;
    pid_t pid;
    jsp_loaded_fn each;
    void *arg;
    bool is_first;
    bool copies; /* the kernel copies memory for us */
    bool has_vdso;
    uint64_t vdso;
    uint8_t *look; /* LOADED_LOOK bytes, outside of the stack, of which there may be little */
};

/* Copy n parts. Return how many bytes could be copied before the first that could not. */
static size_t loaded_read_parts(pid_t pid, const struct iovec *here, const struct iovec *there,
                                int n)
{
    ssize_t got = process_vm_readv(pid, here, (unsigned long)n, there, (unsigned long)n, 0);
    if (got < 0 && errno != EFAULT) { /* a sandbox forbids the call: trust the addresses */
        got = 0;
        for (int i = 0; i < n; got += (ssize_t)here[i++].iov_len)
            memcpy(here[i].iov_base, there[i].iov_base, here[i].iov_len);
    }
    return got < 0 ? 0 : (size_t)got;
}

/* Return how many of the n bytes at `at` could be copied. */
static size_t loaded_read(pid_t pid, uint64_t at, void *to, size_t n)
{
    struct iovec here = { to, n }, there = { (void *)(uintptr_t)at, n };
    return loaded_read_parts(pid, &here, &there, 1);
}

/* Return true if the kernel copies memory of this process for us, and so for the handler. */
static bool loaded_copies(pid_t pid)
{
    char from = 1, to = 0;
    struct iovec here = { &to, 1 }, there = { &from, 1 };
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == 1;
}

static uint64_t loaded_mix_word(uint64_t hash, const uint8_t *at, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, at, n);
    hash = (hash ^ word) * 1099511628211u;
    return hash ^ hash >> 32;
}

/* FNV-1a, by words of 8 bytes: the high half of a word must reach the low half of the hash. */
static uint64_t loaded_mix(uint64_t hash, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    for (; n >= sizeof(uint64_t); at += sizeof(uint64_t), n -= sizeof(uint64_t))
        hash = loaded_mix_word(hash, at, sizeof(uint64_t));
    return n ? loaded_mix_word(hash, at, n) : hash;
}

/* Find .eh_frame in the program's file: statically linked programs may have no
 * PT_GNU_EH_FRAME. */
static void loaded_ask_file(struct jsp_loaded *l, uint64_t base)
{
    struct jsp_elf elf;
    const char *exec = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    int fd = jsp_descriptor_open("/proc/self/exe", O_RDONLY, 0);
    if (fd < 0 && exec) /* no /proc */
        fd = jsp_elf_file(exec);
    if (fd < 0 || jsp_elf_open(&elf, fd) < 0)
        return;
    const Elf64_Shdr *s = jsp_elf_section(&elf, ".eh_frame", 0);
    if (s && s->sh_flags & SHF_ALLOC) {
        l->eh_frame = base + s->sh_addr;
        l->eh_end = l->eh_frame + s->sh_size;
    }
    jsp_elf_close(&elf);
}

/* What one call of the kernel reads of an object: the header of its table, and its notes. */
struct loaded_head {
    struct iovec here[1 + LOADED_NOTES], there[1 + LOADED_NOTES];
    int n;
    uint64_t at; /* of the header; 0: none */
    struct jsp_live_header header;
};

static void loaded_want(struct loaded_head *head, uint64_t at, void *to, size_t n)
{
    head->here[head->n] = (struct iovec){ to, n };
    head->there[head->n++] = (struct iovec){ (void *)(uintptr_t)at, n };
}

static uint8_t *loaded_note(const struct loaded_walk *w, int i)
{
    return w->look + (size_t)i * LOADED_NOTE;
}

/* Find the build id in the notes, which begin at `first` of what was read. */
static void loaded_id(struct jsp_loaded *l, const struct loaded_head *head, int first)
{
    for (int i = first; i < head->n && !l->n_id; i++)
        l->n_id = jsp_elf_note_id(head->here[i].iov_base, head->here[i].iov_len, l->id);
}

/* Return true if a loaded segment holds all of this one: a linker's script may keep notes in the
 * file alone. */
static bool loaded_holds(const struct dl_phdr_info *info, const ElfW(Phdr) *of)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && of->p_vaddr >= p->p_vaddr && of->p_memsz <= p->p_memsz &&
            of->p_vaddr - p->p_vaddr <= p->p_memsz - of->p_memsz)
            return true;
    }
    return false;
}

/* Read the header and the notes. Return false if there is no header. */
static bool loaded_read_head(struct jsp_loaded *l, struct loaded_head *head,
                             const struct dl_phdr_info *info, const struct loaded_walk *w)
{
    head->n = 0;
    head->at = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            head->at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (head->at)
        loaded_want(head, head->at, &head->header, sizeof head->header);
    int first = head->n;
    for (int i = 0; i < info->dlpi_phnum && head->n - first < LOADED_NOTES; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_NOTE && loaded_holds(info, p))
            loaded_want(head, info->dlpi_addr + p->p_vaddr, loaded_note(w, head->n - first),
                        p->p_memsz < LOADED_NOTE ? p->p_memsz : LOADED_NOTE);
    }
    size_t all = 0, got = loaded_read_parts(w->pid, head->here, head->there, head->n);
    for (int i = 0; i < head->n; i++)
        all += head->here[i].iov_len;
    if (got == all)
        loaded_id(l, head, first);
    return head->at && got >= sizeof head->header;
}

/* Find .eh_frame by .eh_frame_hdr, and the build id. */
static void loaded_frame(struct jsp_loaded *l, const struct dl_phdr_info *info,
                         const struct loaded_walk *w)
{
    struct loaded_head head;
    const struct jsp_live_header *h = &head.header;
    if (loaded_read_head(l, &head, info, w)) {
        bool is_known = h->version == 1 &&
                        h->frame == PE_PCREL_SDATA4; /* the encoding that linkers write */
        l->eh_frame = is_known ? head.at + 4 + (uint64_t)(int64_t)h->at : 0;
        bool is_sorted = is_known && w->copies && jsp_live_is_sorted(h);
        l->header = is_sorted ? head.at : 0;
        l->n_sorted = is_sorted ? h->n : 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && l->eh_frame >= at && l->eh_frame < at + p->p_memsz)
            l->eh_end = at + p->p_memsz;
    }
    if (l->eh_end <= l->eh_frame)
        l->eh_frame = 0;
}

/* Return the identity, mixed with the table's first bytes. */
static uint64_t loaded_mix_table(const struct jsp_loaded *l, const struct loaded_walk *w)
{
    uint64_t n = l->eh_end - l->eh_frame;
    size_t got = loaded_read(w->pid, l->eh_frame, w->look, n < LOADED_LOOK ? n : LOADED_LOOK);
    return loaded_mix(l->identity, w->look, got);
}

static int loaded_report(struct loaded_walk *w, const struct dl_phdr_info *info)
{
    struct jsp_loaded l = { .identity = 14695981039346656037u, .start = UINT64_MAX };
    w->look = w->look ? w->look : jsp_block_grow(NULL, LOADED_LOOK);
    if (!w->look)
        return -ENOMEM;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        l.start = at < l.start ? at : l.start;
        l.end = at + p->p_memsz > l.end ? at + p->p_memsz : l.end;
    }
    if (l.start >= l.end)
        return 0;
    loaded_frame(&l, info, w);
    if (!l.eh_frame && w->is_first)
        loaded_ask_file(&l, info->dlpi_addr);
    const char *name = info->dlpi_name ? info->dlpi_name : "";
    l.identity = loaded_mix(l.identity, name, strlen(name));
    l.identity = loaded_mix(l.identity, info->dlpi_phdr,
                            info->dlpi_phnum * sizeof *info->dlpi_phdr);
    if (l.eh_frame)
        l.identity = loaded_mix_table(&l, w);
    w->has_vdso = w->has_vdso || (w->vdso >= info->dlpi_addr && w->vdso < l.end);
    return w->each(w->arg, &l);
}

static int loaded_visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct loaded_walk *w = arg;
    if (jsp_forkgate_is_closed())
        return -EAGAIN;
    if (w->is_first && size >= offsetof(struct dl_phdr_info, dlpi_tls_modid)) {
        if (info->dlpi_adds == w->seen->adds && info->dlpi_subs == w->seen->subs)
            return 1;
        w->seen->adds = info->dlpi_adds;
        w->seen->subs = info->dlpi_subs;
    }
    if (w->is_first)
        w->copies = loaded_copies(w->pid);
    int end = loaded_report(w, info);
    w->is_first = false;
    return end;
}

/* Report the vdso, which some C libraries do not list. */
static int loaded_visit_vdso(struct loaded_walk *w)
{
    const ElfW(Ehdr) *head = (const void *)(uintptr_t)w->vdso;
    struct dl_phdr_info info = { .dlpi_name = "vdso" };
    info.dlpi_phdr = (const void *)(uintptr_t)(w->vdso + head->e_phoff);
    info.dlpi_phnum = head->e_phnum;
    info.dlpi_addr = w->vdso;
    for (int i = 0; i < info.dlpi_phnum; i++)
        if (info.dlpi_phdr[i].p_type == PT_LOAD)
            info.dlpi_addr = w->vdso - info.dlpi_phdr[i].p_vaddr + info.dlpi_phdr[i].p_offset;
    return loaded_report(w, &info);
}

int jsp_loaded_each(struct jsp_loaded_seen *seen, pid_t pid, jsp_loaded_fn each, void *arg)
{
    struct loaded_walk w = { .seen = seen, .pid = pid, .each = each, .arg = arg,
                             .is_first = true, .vdso = getauxval(AT_SYSINFO_EHDR) };
    if (!jsp_forkgate_enter())
        return -EAGAIN;
    int end = dl_iterate_phdr(loaded_visit, &w);
    jsp_forkgate_leave();
    if (!end && w.vdso && !w.has_vdso)
        end = loaded_visit_vdso(&w);
    jsp_block_free(w.look);
    return end;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
_Static_assert(sizeof(struct jsp_live_found) == sizeof(struct dl_find_object) &&
               offsetof(struct jsp_live_found, header) ==
               offsetof(struct dl_find_object, dlfo_eh_frame), "what _dl_find_object fills");
#endif

jsp_live_find_sigsafe_fn jsp_loaded_find(void)
{
    void *found = dlsym(RTLD_DEFAULT, "_dl_find_object");
    jsp_live_find_sigsafe_fn call;
    memcpy(&call, &found, sizeof call);
    return call;
}

int jsp_loaded_copy(const struct jsp_loaded *loaded, pid_t pid,
                    struct jsp_ehframe_section *section)
{
    size_t n = 0, most = (size_t)(loaded->eh_end - loaded->eh_frame);
    uint8_t *bytes = NULL;
    bool whole = false;
    *section = (struct jsp_ehframe_section){ .addr = loaded->eh_frame };
    if (!loaded->eh_frame)
        return 0;
    while (!whole && n < most) {
        size_t more = n ? n : LOADED_CHUNK; /* the size doubles */
        more = more < most - n ? more : most - n;
        uint8_t *bigger = jsp_block_grow(bytes, n + more);
        if (!bigger) {
            jsp_block_free(bytes);
            return -ENOMEM;
        }
        bytes = bigger;
        size_t got = loaded_read(pid, loaded->eh_frame + n, bytes + n, more);
        n += got;
        jsp_ehframe_extent(bytes, n, &whole);
        if (got < more)
            break;
    }
    section->bytes = bytes;
    section->n = n ? jsp_ehframe_extent(bytes, n, &whole) : 0;
    return 0;
}
