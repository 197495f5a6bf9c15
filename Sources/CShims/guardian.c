// The guardian: a separate process that starts the run's programs, creates its temporary folders, and outlives it. It
// is forked from the run, which has several threads, and does not call exec. Therefore it makes only calls that are
// safe after fork, and allocates memory only with mmap.
#define _GNU_SOURCE
#include "guardian.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct folder {
    int parent;
    uint64_t device;
    uint64_t inode;
    char name[GUARDIAN_NAME];
};

// A table is allocated with mmap and extended with mremap.
struct table {
    char *bytes;
    size_t capacity;
};

struct parent {
    int fd;
    uint64_t device;
    uint64_t inode;
};

enum { PARENTS = 8 };

struct guardian {
    int socket;
    int signals;
    // A spare descriptor, which is closed while a request is received, so that there is room for the request's first
    // descriptor.
    int spare;
    // The guards of running programs.
    struct table guards;
    int guard_count;
    // Whether a guard was killed. If so, the guard's descendants are now children of the guardian.
    int has_orphans;
    struct table folders;
    int folder_count;
    // The parent folders of the temporary folders; usually only $TMPDIR.
    struct parent parents[PARENTS];
    int parent_count;
    struct guardian_request request;
};

static int has_room(struct table *table, size_t size) {
    if (size <= table->capacity) return 1;
    size_t capacity = table->capacity == 0 ? 4096 : table->capacity * 2;
    void *bytes = table->capacity == 0
                      ? mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                      : mremap(table->bytes, table->capacity, capacity, MREMAP_MAYMOVE);
    if (bytes == MAP_FAILED) return 0;
    table->bytes = bytes;
    table->capacity = capacity;
    return 1;
}

int guardian_block_signals(void) {
    sigset_t all, child;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    // If a process inherits an ignored SIGCHLD, the kernel collects its children automatically. The default action
    // prevents that.
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &action, NULL);
    return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

// Programs

static void spawn(struct guardian *guardian, const int *descriptors) {
    int socket = descriptors[GUARDIAN_SOCKET];
    if (!has_room(&guardian->guards, (size_t)(guardian->guard_count + 1) * sizeof(pid_t))) {
        guardian_tell(socket, PROBE_NEWS_FAILED, ENOMEM);
        return;
    }
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        close(guardian->socket);
        close(guardian->signals);
        if (guardian->spare >= 0) close(guardian->spare);
        for (int i = 0; i < guardian->parent_count; i++) close(guardian->parents[i].fd);
        guardian_watch_program(&guardian->request, descriptors);
    }
    if (pid < 0) guardian_tell(socket, PROBE_NEWS_FAILED, errno);
    else ((pid_t *)guardian->guards.bytes)[guardian->guard_count++] = pid;
}

static void reap_guards(struct guardian *guardian) {
    pid_t *guards = (pid_t *)guardian->guards.bytes;
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (WIFSTOPPED(status)) {
            // The program may have stopped its guard. A stopped guard reports nothing.
            kill(pid, SIGCONT);
            continue;
        }
        for (int i = 0; i < guardian->guard_count; i++) {
            if (guards[i] != pid) continue;
            guards[i] = guards[--guardian->guard_count];
            if (!WIFEXITED(status)) guardian->has_orphans = 1;
        }
    }
    if (guardian->has_orphans && guardian_end_all(guards, guardian->guard_count, guardian->signals, 0) == 0)
        guardian->has_orphans = 0;
}

// Folders

// Returns the index of a parent folder in `parents`, or -1 with errno. The folder's descriptor stays open.
static int parent_folder(struct guardian *guardian, const char *path) {
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0) return -1;
    for (int i = 0; i < guardian->parent_count; i++) {
        struct parent *parent = &guardian->parents[i];
        if (parent->device != status.st_dev || parent->inode != status.st_ino) continue;
        close(fd);
        return i;
    }
    if (guardian->parent_count == PARENTS) {
        close(fd);
        errno = EMFILE;
        return -1;
    }
    guardian->parents[guardian->parent_count] =
        (struct parent){.fd = fd, .device = status.st_dev, .inode = status.st_ino};
    return guardian->parent_count++;
}

// Creates a temporary folder. Returns 0 or errno. The folder is recorded as soon as it has been created, so that it is
// removed even if the run is killed before it receives the reply.
static int make_folder(struct guardian *guardian) {
    const struct guardian_request *request = &guardian->request;
    if (!has_room(&guardian->folders, (size_t)(guardian->folder_count + 1) * sizeof(struct folder))) return ENOMEM;
    int parent = parent_folder(guardian, request->path);
    if (parent < 0) return errno;
    int fd = guardian->parents[parent].fd;
    if (mkdirat(fd, request->name, 0700) < 0) return errno;
    struct stat status;
    if (fstatat(fd, request->name, &status, AT_SYMLINK_NOFOLLOW) < 0) return errno;
    struct folder *folder = (struct folder *)guardian->folders.bytes + guardian->folder_count++;
    *folder = (struct folder){.parent = parent, .device = status.st_dev, .inode = status.st_ino};
    memcpy(folder->name, request->name, sizeof folder->name);
    return 0;
}

static void forget_folder(struct guardian *guardian) {
    struct folder *folders = (struct folder *)guardian->folders.bytes;
    for (int i = 0; i < guardian->folder_count; i++) {
        if (strncmp(folders[i].name, guardian->request.name, GUARDIAN_NAME) != 0) continue;
        folders[i] = folders[--guardian->folder_count];
        return;
    }
}

static void remove_folders(struct guardian *guardian) {
    struct folder *folders = (struct folder *)guardian->folders.bytes;
    for (int i = 0; i < guardian->folder_count; i++)
        probe_remove_folder(
            guardian->parents[folders[i].parent].fd, folders[i].name, folders[i].device, folders[i].inode);
}

// Requests

// Handles the next request. Returns 0 if the run has ended.
static int take_request(struct guardian *guardian) {
    int descriptors[GUARDIAN_DESCRIPTORS];
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof descriptors)];
    } control;
    struct guardian_request *request = &guardian->request;
    struct iovec payload = {.iov_base = request, .iov_len = sizeof *request};
    struct msghdr message = {
        .msg_iov = &payload, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    if (guardian->spare >= 0) close(guardian->spare);
    ssize_t n = recvmsg(guardian->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    int code = errno;
    guardian->spare = open("/dev/null", O_RDWR | O_CLOEXEC);
    errno = code;
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return 0;
    int count = 0;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_type == SCM_RIGHTS) {
        count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors, CMSG_DATA(header), (size_t)count * sizeof(int));
    }
    if (n == (ssize_t)sizeof *request) {
        switch (request->operation) {
        case GUARDIAN_SPAWN:
            if (count == GUARDIAN_DESCRIPTORS) spawn(guardian, descriptors);
            // If some descriptors did not arrive, the guardian has run out of descriptors.
            else if (count > GUARDIAN_SOCKET) guardian_tell(descriptors[GUARDIAN_SOCKET], PROBE_NEWS_FAILED, EMFILE);
            break;
        case GUARDIAN_MAKE_FOLDER: {
            code = make_folder(guardian);
            send(guardian->socket, &code, sizeof code, MSG_NOSIGNAL);
            break;
        }
        case GUARDIAN_FORGET_FOLDER: forget_folder(guardian); break;
        }
    }
    for (int i = 0; i < count; i++) close(descriptors[i]);
    return 1;
}

// Unmaps the capture's ring buffer. The guardian does not need the buffer, but the kernel keeps the buffer as long as
// any process maps it.
static void unmap_sockets(void) {
    const size_t limit = 1 << 20;
    char *text = mmap(NULL, limit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (text == MAP_FAILED || fd < 0) return;
    size_t size = 0;
    ssize_t n;
    while (size < limit - 1 && (n = read(fd, text + size, limit - 1 - size)) > 0) size += (size_t)n;
    close(fd);
    text[size] = 0;
    for (char *line = text; line != NULL && *line != 0;) {
        char *end = strchr(line, '\n');
        if (end != NULL) *end = 0;
        if (strstr(line, "socket:[") != NULL) {
            char *dash;
            uintptr_t from = strtoul(line, &dash, 16);
            uintptr_t to = strtoul(dash + 1, NULL, 16);
            if (to > from) munmap((void *)from, to - from);
        }
        line = end == NULL ? NULL : end + 1;
    }
    munmap(text, limit);
}

// Descriptors 0 to 2 are kept open on /dev/null, so that no other file is opened with one of these numbers.
static int keep_only(int socket) {
    int kept = fcntl(socket, F_DUPFD_CLOEXEC, 3);
    if (kept < 0) return -1;
    if (kept != 3 && dup3(kept, 3, O_CLOEXEC) < 0) return -1;
    syscall(SYS_close_range, 4u, ~0u, 0u);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; fd++) dup3(null >= 0 ? null : 3, fd, O_CLOEXEC);
    if (null >= 0) close(null);
    return 3;
}

static _Noreturn void guard(int socket, pid_t run) {
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    probe_show_as("guardian", run);
    // The structure is as large as a request, so the variable is static: pages that are never written use no memory.
    static struct guardian guardian;
    guardian.socket = keep_only(socket);
    guardian.signals = guardian_block_signals();
    guardian.spare = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (guardian.socket < 0 || guardian.signals < 0) _exit(1);
    unmap_sockets();
    for (;;) {
        struct pollfd poller[2] = {
            {.fd = guardian.socket, .events = POLLIN}, {.fd = guardian.signals, .events = POLLIN}};
        // Orphans that have not ended are checked again after 20 ms.
        poll(poller, 2, guardian.has_orphans ? 20 : -1);
        struct signalfd_siginfo ignored;
        while (read(guardian.signals, &ignored, sizeof ignored) > 0) {}
        reap_guards(&guardian);
        if (!take_request(&guardian)) break;
    }
    // The run has ended, for whatever reason. The guards are killed like all other descendants, and the guardian adopts
    // the guards' own descendants.
    guardian_end_all(NULL, 0, guardian.signals, 60000);
    remove_folders(&guardian);
    _exit(0);
}

// Functions called by the run

int probe_guardian_start(pid_t *pid) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return -errno;
    pid_t run = getpid();
    sigset_t all, old;
    sigfillset(&all);
    // Signals are blocked before fork, so that the child can't receive a signal before it has blocked all signals
    // itself.
    pthread_sigmask(SIG_SETMASK, &all, &old);
    *pid = fork();
    if (*pid == 0) {
        close(pair[0]);
        guard(pair[1], run);
    }
    int code = errno;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    close(pair[1]);
    if (*pid > 0) {
        setpgid(*pid, *pid);
        return pair[0];
    }
    close(pair[0]);
    return -code;
}
