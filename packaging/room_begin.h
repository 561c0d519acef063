/* What the Makefile asks for with flags where it compiles file by file.
 *
 * Only the names of jsprof.h leave this file. A handler reads a thread-local without a
 * call. */
#pragma GCC visibility push(hidden)
#define JSP_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

/* The room, which the handler may enter. It has no jump tables and no tail calls, so each
 * call through a pointer is visible as one in the machine code. The atomic operations are
 * instructions, not calls. src/session/warm.c makes the first call of each name of libc. */
#if defined __clang__
#pragma clang attribute push(__attribute__((disable_tail_calls)), apply_to = function)
/* clang would call bcmp where only a zero of memcmp counts. */
static inline int jsp_room_memcmp(const void *a, const void *b, size_t n)
{
    int order = memcmp(a, b, n);
    __asm__("" : "+r"(order));
    return order;
}
#define memcmp(a, b, n) jsp_room_memcmp(a, b, n)
#else
#pragma GCC push_options
#pragma GCC optimize("no-jump-tables", "no-optimize-sibling-calls")
#if defined __aarch64__
#pragma GCC target("no-outline-atomics")
#endif
#endif

