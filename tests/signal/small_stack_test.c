/* small_stack_test.c - hosts with little stack: a default for new threads of 16 KiB, and
 * threads of their own that have no more than that.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"


enum {
    STACK_ALL = (HOST_LATE ? 2048 : 256) << 10, /* the thread sanitizer takes most of a MiB */
    STACK_PROMISE = 12 << 10, /* as jsprof.h says of cold functions */
    STACK_OTHERS = 6 << 10,   /* of libc's thread and of the test's own frames */
    PAINT = 0xA5,
};

/* A recording in all its phases; 0, or which of them failed. */
static int record(bool sampled)
{
    jsprof_options options = host_options(1000, JSPROF_CLOCK_CPU);
    jsprof_thread *me = NULL;
    jsprof *prof;
    int fd = memfd_create("capture", MFD_CLOEXEC);
    options.flags |= JSPROF_USE_FD;
    options.fd = fd;
    if (jsprof_open(&prof, &options) != 0)
        return 1;
    if (jsprof_calls_set(prof, JSPROF_CALLS_ALL) != 0)
        return 2;
    if (sampled && jsprof_thread_attach(prof, "small", &me) != 0)
        return 3;
    if (jsprof_start(prof) != 0)
        return 4;
    jsprof_push(me, "work", "small.c", 1);
    if (sampled)
        host_burn_ms(30);
    jsprof_pop(me);
    if (jsprof_flush(prof) != 0)
        return 5;
    if (jsprof_stop(prof) != 0)
        return 6;
    if (jsprof_thread_detach(me) != 0)
        return 7;
    if (jsprof_close(prof) != 0)
        return 8;
    return lseek(fd, 0, SEEK_END) > 0 ? close(fd) : 9;
}

static int record_with_a_small_default(void)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)) != 0 ||
        pthread_setattr_default_np(&attr) != 0)
        return 100;
    for (int i = 0; i < 3; i++) {
        int err = record(true);
        if (err)
            return err;
    }
    return 0;
}

TEST(default_stack_of_16_kib_does_not_kill_our_thread)
{
    CHECK_EQ(host_in_child(record_with_a_small_default), 0);
}

static void *record_in_thread(void *arg)
{
    *(int *)arg = record(*(int *)arg);
    return NULL;
}

/* Bytes of stack that a thread which records has touched. */
static size_t touched(bool sampled)
{
    unsigned char *stack = mmap(NULL, STACK_ALL, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attr;
    pthread_t thread;
    int result = sampled;
    size_t free = 0;
    memset(stack, PAINT, STACK_ALL);
    pthread_attr_init(&attr);
    CHECK_EQ(pthread_attr_setstack(&attr, stack, STACK_ALL), 0);
    CHECK_EQ(pthread_create(&thread, &attr, record_in_thread, &result), 0);
    pthread_join(thread, NULL);
    CHECK_EQ(result, 0);
    while (free < STACK_ALL && stack[free] == PAINT)
        free++;
    munmap(stack, STACK_ALL);
    return STACK_ALL - free;
}

TEST(open_start_stop_and_close_need_as_little_stack_as_the_header_says)
{
    size_t cold = touched(false), sampled = touched(true);
    printf("# %zu bytes, %zu of a thread that is sampled\n", cold, sampled);
    CHECK(HOST_SANITIZED || cold <= STACK_PROMISE + STACK_OTHERS);
}

TEST_MAIN()
