// Ends all descendants of a subreaper. These functions make only system calls, so they are safe after fork.
#define _GNU_SOURCE
#include "guardian.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_child(pid_t pid) {
    siginfo_t info;
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static int is_spared(pid_t pid, const pid_t *spared, int count) {
    for (int i = 0; i < count; i++)
        if (spared[i] == pid) return 1;
    return 0;
}

// Kills a child and the process group that it leads. The kernel signals all members of a group at once, so none can
// escape by forking.
static int end_child(pid_t pid) {
    kill(-pid, SIGKILL);
    return kill(pid, SIGKILL) == 0;
}

// Ends the children that /proc lists. Returns -1 if /proc is missing, lacks the list, or belongs to another pid
// namespace.
static int end_listed(const pid_t *spared, int count) {
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    int ended = 0;
    pid_t pid = 0;
    char text[4096];
    ssize_t n;
    while ((n = read(fd, text, sizeof text)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
                continue;
            }
            if (pid > 0 && !is_spared(pid, spared, count)) {
                if (!is_child(pid)) {
                    close(fd);
                    return -1;
                }
                ended += end_child(pid);
            }
            pid = 0;
        }
    }
    close(fd);
    return ended;
}

// Ends the children without /proc, by asking the kernel about each process id. The ids just above the caller's own id
// are tried first, because most children have such an id.
static int end_numbered(const pid_t *spared, int count) {
    const pid_t limit = 4 << 20;
    pid_t own = getpid();
    int ended = 0;
    for (pid_t i = 1; i < limit; i++) {
        pid_t pid = (own + i) % limit;
        if (pid > 1 && is_child(pid) && !is_spared(pid, spared, count)) ended += end_child(pid);
        // If any child has been found by now, all children have usually been found.
        if (i % 32768 == 0 && ended > 0) break;
    }
    return ended;
}

// Collects the status of ended children that are not spared. Returns whether other children are still running.
static int reap(const pid_t *spared, int count) {
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0) return 0;
        if (info.si_pid == 0) break;
        // The status of a spared child must be collected by its owner. A caller that spares children collects their
        // status first.
        if (is_spared(info.si_pid, spared, count)) break;
        waitpid(info.si_pid, NULL, WNOHANG);
    }
    return 1;
}

int guardian_end_all(const pid_t *spared, int count, int signals, int patience_ms) {
    int64_t deadline = probe_monotonic_ns() + (int64_t)patience_ms * 1000000;
    for (;;) {
        if (!reap(spared, count)) return 0;
        int ended = end_listed(spared, count);
        if (ended < 0) ended = end_numbered(spared, count);
        // Only spared children remain.
        if (ended == 0 && count > 0) return 0;
        // A process that belongs to another user, or that is blocked in the kernel, can't be killed now, but may still
        // end.
        if (probe_monotonic_ns() > deadline) return ended > 0 ? ended : 1;
        struct pollfd poller = {.fd = signals, .events = POLLIN};
        poll(&poller, 1, ended > 0 ? 1 : 20);
        struct signalfd_siginfo ignored;
        while (read(signals, &ignored, sizeof ignored) > 0) {}
    }
}
