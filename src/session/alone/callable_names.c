/* session/alone/callable_names.c - see callable.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "callable.h"

#include <stddef.h>

const char *const jsp_callable_names[] = {
    "___errno_location", "__errno_location", "__fxstat", "__getdelim", "__isoc23_strtoul",
    "__isoc23_strtoull", "__libc_current_sigrtmax", "__libc_current_sigrtmin", "__lxstat",
    "__strtok_r", "__xstat", "abort", "accept4", "access", "aligned_alloc", "bind",
    "calloc", "clock_getres", "clock_gettime", "clock_nanosleep", "close", "closedir", "connect",
    "dirfd", "dl_iterate_phdr", "dlsym", "dup3", "fchmod", "fclose", "fcntl", "fcntl64",
    "fdopen", "ferror", "flock", "fprintf", "fputc", "fputs", "free", "fstat", "fstat64",
    "fstatat", "fstatat64", "ftruncate", "ftruncate64", "getauxval", "getcwd", "getdelim",
    "geteuid", "getpid", "getrandom", "getrlimit", "getrlimit64", "getsockopt", "ioctl", "isatty",
    "linkat", "listen", "lseek", "lseek64", "lstat", "lstat64", "madvise", "malloc",
    "memalign", "memchr", "memcmp", "memcpy", "memmem", "memmove", "memset", "mkdir",
    "mmap", "mmap64", "mprotect", "mremap", "munmap", "open", "open64", "open_memstream",
    "openat", "openat64", "opendir", "pipe2", "poll", "posix_memalign", "ppoll", "prctl", "pread",
    "pread64", "process_vm_readv", "pthread_atfork", "pthread_attr_destroy",
    "pthread_attr_getstack", "pthread_attr_init", "pthread_attr_setstacksize",
    "pthread_cond_broadcast", "pthread_cond_destroy", "pthread_cond_init",
    "pthread_cond_signal", "pthread_cond_timedwait", "pthread_cond_wait",
    "pthread_condattr_destroy", "pthread_condattr_init", "pthread_condattr_setclock",
    "pthread_create", "pthread_detach", "pthread_getattr_np", "pthread_getcpuclockid",
    "pthread_join",
    "pthread_key_create", "pthread_kill", "pthread_mutex_destroy", "pthread_mutex_init",
    "pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_unlock", "pthread_once",
    "pthread_self", "pthread_setcancelstate", "pthread_setname_np", "pthread_setspecific",
    "pthread_sigmask", "pwrite", "pwrite64", "qsort", "read", "readdir", "readdir64",
    "realloc", "realpath", "recvmsg", "sched_yield", "secure_getenv", "send",
    "sigaction", "sigaddset",
    "sigaltstack", "sigdelset", "sigemptyset", "sigfillset", "sigismember", "sigpending",
    "sigtimedwait", "snprintf", "socket", "stat", "stat64", "strchr", "strcmp", "strcpy",
    "strcspn", "strdup", "strerror", "strlen", "strncmp", "strncpy", "strndup", "strnlen",
    "strrchr", "strspn", "strstr", "strtok_r", "strtoul", "strtoull", "syscall", "sysconf",
    "time", "timer_create", "timer_delete", "timer_settime", "unlink", "unlinkat",
    "vsnprintf", "write", "writev",
    NULL,
};
