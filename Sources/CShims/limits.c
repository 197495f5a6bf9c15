// The limits on open files and on threads.
#define _GNU_SOURCE
#include "CShims.h"
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>

static struct rlimit given;
static int is_raised;

int probe_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return 1024;
    if (!is_raised && limit.rlim_cur < limit.rlim_max) {
        struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
            given = limit;
            is_raised = 1;
            limit = raised;
        }
    }
    return limit.rlim_cur > 1 << 20 ? 1 << 20 : (int)limit.rlim_cur;
}

void probe_restore_descriptor_limit(void) {
    // The original limit is restored, because some programs close every descriptor below the limit, or use select.
    if (is_raised) setrlimit(RLIMIT_NOFILE, &given);
}

int probe_open_descriptors(int limit) {
    int count = 0;
    for (int fd = 0; fd < limit; fd++)
        if (fcntl(fd, F_GETFD) >= 0) count++;
    return count;
}

static void *wait_for(void *semaphore) {
    while (sem_wait(semaphore) != 0) {}
    return NULL;
}

int probe_has_threads(int count) {
    pthread_t threads[256];
    if (count > 256) count = 256;
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    int started = 0;
    while (started < count && pthread_create(&threads[started], NULL, wait_for, &semaphore) == 0) started++;
    for (int i = 0; i < started; i++) sem_post(&semaphore);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    sem_destroy(&semaphore);
    return started == count;
}
