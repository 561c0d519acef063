/* session/call_names.c - see call_names.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "call_names.h"

#include <stddef.h>
#include <sys/syscall.h>

struct call_name {
    uint32_t number;
    const char *name;
};

#define NAME(call) { SYS_##call, #call },

static const struct call_name call_names[] = {
    NAME(read) NAME(write) NAME(readv) NAME(writev) NAME(pread64) NAME(pwrite64)
    NAME(preadv) NAME(pwritev) NAME(preadv2) NAME(pwritev2) NAME(ppoll) NAME(pselect6)
    NAME(epoll_pwait) NAME(futex) NAME(nanosleep) NAME(clock_nanosleep) NAME(wait4)
    NAME(waitid) NAME(accept) NAME(accept4) NAME(connect) NAME(recvfrom) NAME(recvmsg)
    NAME(recvmmsg) NAME(sendto) NAME(sendmsg) NAME(sendmmsg) NAME(fsync) NAME(fdatasync)
    NAME(sync) NAME(sync_file_range) NAME(syncfs) NAME(msync) NAME(openat) NAME(close)
    NAME(flock) NAME(fcntl) NAME(ioctl) NAME(io_getevents) NAME(semop) NAME(semtimedop)
    NAME(msgrcv) NAME(msgsnd) NAME(mq_timedreceive) NAME(mq_timedsend)
    NAME(rt_sigtimedwait) NAME(rt_sigsuspend) NAME(rt_sigreturn) NAME(restart_syscall)
    NAME(sendfile) NAME(splice) NAME(tee) NAME(vmsplice) NAME(copy_file_range)
    NAME(getdents64) NAME(statx) NAME(fstat) NAME(faccessat) NAME(readlinkat)
    NAME(unlinkat) NAME(renameat2) NAME(mkdirat) NAME(linkat) NAME(symlinkat)
    NAME(fallocate) NAME(ftruncate) NAME(truncate) NAME(mmap) NAME(munmap) NAME(mprotect)
    NAME(mremap) NAME(madvise) NAME(brk) NAME(execve) NAME(execveat) NAME(clone)
    NAME(ptrace) NAME(exit) NAME(exit_group) NAME(sched_yield) NAME(process_vm_readv)
    NAME(process_vm_writev) NAME(getrandom) NAME(userfaultfd) NAME(mlock) NAME(munlock)
    NAME(shutdown) NAME(socket) NAME(bind) NAME(listen) NAME(mount) NAME(umount2)
    NAME(fchmod) NAME(fchown) NAME(utimensat) NAME(quotactl) NAME(init_module)
    NAME(finit_module) NAME(delete_module) NAME(swapon) NAME(swapoff) NAME(reboot)
    NAME(membarrier) NAME(bpf) NAME(perf_event_open) NAME(keyctl) NAME(request_key)
    NAME(add_key) NAME(setns) NAME(unshare) NAME(kill) NAME(tgkill)
    /* not on every processor, or not in every version of the headers */
#ifdef SYS_open
    NAME(open)
#endif
#ifdef SYS_poll
    NAME(poll)
#endif
#ifdef SYS_select
    NAME(select)
#endif
#ifdef SYS_epoll_wait
    NAME(epoll_wait)
#endif
#ifdef SYS_pause
    NAME(pause)
#endif
#ifdef SYS_unlink
    NAME(unlink)
#endif
#ifdef SYS_rename
    NAME(rename)
#endif
#ifdef SYS_mkdir
    NAME(mkdir)
#endif
#ifdef SYS_rmdir
    NAME(rmdir)
#endif
#ifdef SYS_vfork
    NAME(vfork)
#endif
#ifdef SYS_fork
    NAME(fork)
#endif
#ifdef SYS_getdents
    NAME(getdents)
#endif
#ifdef SYS_stat
    NAME(stat)
#endif
#ifdef SYS_lstat
    NAME(lstat)
#endif
#ifdef SYS_access
    NAME(access)
#endif
#ifdef SYS_readlink
    NAME(readlink)
#endif
#ifdef SYS_creat
    NAME(creat)
#endif
#ifdef SYS_newfstatat
    NAME(newfstatat)
#endif
#ifdef SYS_clone3
    NAME(clone3)
#endif
#ifdef SYS_io_uring_enter
    NAME(io_uring_enter)
#endif
#ifdef SYS_io_uring_setup
    NAME(io_uring_setup)
#endif
#ifdef SYS_futex_waitv
    NAME(futex_waitv)
#endif
#ifdef SYS_futex_wait
    NAME(futex_wait)
#endif
#ifdef SYS_epoll_pwait2
    NAME(epoll_pwait2)
#endif
#ifdef SYS_openat2
    NAME(openat2)
#endif
#ifdef SYS_faccessat2
    NAME(faccessat2)
#endif
#ifdef SYS_close_range
    NAME(close_range)
#endif
#ifdef SYS_pidfd_open
    NAME(pidfd_open)
#endif
#ifdef SYS_process_madvise
    NAME(process_madvise)
#endif
#ifdef SYS_io_pgetevents
    NAME(io_pgetevents)
#endif
#ifdef SYS_rseq
    NAME(rseq)
#endif
#ifdef SYS_renameat
    NAME(renameat)
#endif
#ifdef SYS_link
    NAME(link)
#endif
#ifdef SYS_symlink
    NAME(symlink)
#endif
#ifdef SYS_chmod
    NAME(chmod)
#endif
#ifdef SYS_chown
    NAME(chown)
#endif
#ifdef SYS_utimes
    NAME(utimes)
#endif
};

const char *jsp_call_name(uint32_t number)
{
    for (size_t i = 0; i < sizeof call_names / sizeof *call_names; i++)
        if (call_names[i].number == number)
            return call_names[i].name;
    return NULL;
}
