/* workers.c - a host with a queue: samples show which time workers wait for it.
 *
 *     JSPROF=out.cap JSPROF_CLOCK=wall ./workers && jsprof report --by state out.cap
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { WORKERS = 2, JOBS = 100, MS = 1000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int waiting_jobs, given_jobs, done_jobs;
static jsprof *prof;

/* Wait for a job. Return 0 when there are no more. The wait for the condition is what the
 * profile shows, not the short one for the lock. */
static int take_job(jsprof_thread *me)
{
    pthread_mutex_lock(&lock);
    while (!waiting_jobs && given_jobs < JOBS) {
        jsprof_wait_begin(me, "the queue");
        pthread_cond_wait(&more, &lock);
        jsprof_wait_end(me);
    }
    int has_job = waiting_jobs > 0;
    waiting_jobs -= has_job;
    pthread_mutex_unlock(&lock);
    return has_job;
}

static void work(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000 * MS + now.tv_nsec - begin.tv_nsec < MS);
}

static void *worker(void *unused)
{
    jsprof_thread *me = NULL;
    (void)unused;
    if (prof)
        jsprof_thread_attach(prof, "worker", &me);
    while (take_job(me)) {
        jsprof_push(me, "job", "workers.c", 36);
        work();
        jsprof_pop(me);
        pthread_mutex_lock(&lock);
        done_jobs++;
        pthread_mutex_unlock(&lock);
    }
    jsprof_thread_detach(me);
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];
    if (jsprof_start_from_env(&prof) <= 0)
        prof = NULL;
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, worker, NULL) != 0)
            return 1;
    for (int i = 0; i < JOBS; i++) { /* a job each 5 ms, which takes 1 ms */
        nanosleep(&(struct timespec){ 0, 5 * MS }, NULL);
        pthread_mutex_lock(&lock);
        waiting_jobs++;
        given_jobs++;
        pthread_cond_broadcast(&more);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("%d jobs\n", done_jobs);
    jsprof_close(prof);
    return 0;
}
