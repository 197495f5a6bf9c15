// The run's side of the guardian: sends requests, and receives news of programs.
#define _GNU_SOURCE
#include "guardian.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static int request(int guardian, struct guardian_request *request, const int *descriptors, int count) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(GUARDIAN_DESCRIPTORS * sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec payload = {.iov_base = request, .iov_len = sizeof *request};
    struct msghdr message = {.msg_iov = &payload, .msg_iovlen = 1};
    if (count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors, (size_t)count * sizeof(int));
    }
    // The call must not block, because the guardian may be stopped.
    return sendmsg(guardian, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? errno : 0;
}

int probe_guardian_spawn(int guardian, const char *path, char *const argv[], char *const envp[], const char *directory,
                         int in, int out, int err, int network, int uses_names, int *news) {
    struct guardian_request asked = {.operation = GUARDIAN_SPAWN, .network = network >= 0,
                                     .uses_names = uses_names != 0};
    if (strlen(directory) >= sizeof asked.path) return ENAMETOOLONG;
    strcpy(asked.path, directory);
    size_t size = strlen(path) + 1;
    for (; argv[asked.words] != NULL; asked.words++) size += strlen(argv[asked.words]) + 1;
    for (; envp[asked.environment] != NULL; asked.environment++) size += strlen(envp[asked.environment]) + 1;
    if (size > (64u << 20)) return E2BIG;
    asked.size = (uint32_t)size;
    // The payload is sent as a file because messages have a size limit. For a file, only the limits of exec apply.
    int payload = memfd_create("program", MFD_CLOEXEC);
    if (payload < 0) return errno;
    int code = 0;
    char *strings = MAP_FAILED;
    if (ftruncate(payload, (off_t)size) == 0)
        strings = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, payload, 0);
    int pair[2] = {-1, -1};
    if (strings == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        code = errno;
    } else {
        char *end = stpcpy(strings, path) + 1;
        for (uint32_t i = 0; i < asked.words; i++) end = stpcpy(end, argv[i]) + 1;
        for (uint32_t i = 0; i < asked.environment; i++) end = stpcpy(end, envp[i]) + 1;
        // Every request has the same number of descriptors, because the guardian checks the number.
        int descriptors[] = {pair[1], payload, in, out, err, network >= 0 ? network : in};
        code = request(guardian, &asked, descriptors, GUARDIAN_DESCRIPTORS);
        close(pair[1]);
        if (code == 0) *news = pair[0];
        else close(pair[0]);
    }
    if (strings != MAP_FAILED) munmap(strings, size);
    close(payload);
    return code;
}

static int folder_request(int guardian, uint32_t operation, const char *parent, const char *name) {
    struct guardian_request asked = {.operation = operation};
    if (strlen(parent) >= sizeof asked.path || strlen(name) >= sizeof asked.name) return ENAMETOOLONG;
    strcpy(asked.path, parent);
    strcpy(asked.name, name);
    return request(guardian, &asked, NULL, 0);
}

int probe_guardian_make_folder(int guardian, const char *parent, const char *name, int timeout_ms) {
    int code = folder_request(guardian, GUARDIAN_MAKE_FOLDER, parent, name);
    if (code != 0) return code;
    struct pollfd poller = {.fd = guardian, .events = POLLIN};
    int ready;
    do {
        ready = poll(&poller, 1, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) return ETIMEDOUT;
    ssize_t n = recv(guardian, &code, sizeof code, MSG_DONTWAIT);
    return n == (ssize_t)sizeof code ? code : EPIPE;
}

int probe_guardian_forget_folder(int guardian, const char *name) {
    return folder_request(guardian, GUARDIAN_FORGET_FOLDER, "", name);
}

int probe_next_news(int fd, struct probe_news *news, int timeout_ms) {
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    if (timeout_ms != 0) {
        int ready;
        do {
            ready = poll(&poller, 1, timeout_ms);
        } while (ready < 0 && errno == EINTR);
        if (ready == 0) return 0;
    }
    ssize_t n;
    do {
        n = recv(fd, news, sizeof *news, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof *news) return 1;
    return n < 0 && errno == EAGAIN ? 0 : -1;
}

void probe_take_exit(int fd) {
    char word = 1;
    send(fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void probe_end_guarded(int fd) { shutdown(fd, SHUT_WR); }
