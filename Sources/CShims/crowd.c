// The sockets of a crowd. A crowd has many sockets, so each socket uses as few system calls as possible.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CShims.h"

#define CROWD_EVENTS (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)

static int fail(int fd, int error) {
    close(fd);
    return -error;
}

static int watch(int epoll, int fd, uint64_t data) {
    struct epoll_event event = {.events = CROWD_EVENTS, .data.u64 = data};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

int probe_crowd_connect(const void *target, unsigned target_length, const void *source, unsigned source_length, int receive_buffer,
                        int no_delay, int epoll, uint64_t data, int *is_pending, int *failed_to_bind) {
    const int one = 1;
    *failed_to_bind = 0;
    int fd = socket(((const struct sockaddr *)target)->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -errno;
    if (receive_buffer > 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer) < 0) return fail(fd, errno);
    if (no_delay) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (source_length) {
        // Ports of closed connections remain in TIME-WAIT for a minute. SO_REUSEADDR allows them to be reused
        // immediately.
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (bind(fd, source, source_length) < 0) {
            *failed_to_bind = 1;
            return fail(fd, errno);
        }
    }
    *is_pending = 0;
    if (connect(fd, target, target_length) < 0) {
        // A previous connection with the same addresses and ports may not be completely closed yet.
        if (errno == EADDRNOTAVAIL || errno == EADDRINUSE) *failed_to_bind = 1;
        if (errno != EINPROGRESS) return fail(fd, errno);
        *is_pending = 1;
    }
    if (watch(epoll, fd, data) < 0) return fail(fd, errno);
    return fd;
}

int probe_crowd_listen(const void *address, unsigned length, int receive_buffer, int epoll, uint64_t data) {
    const int one = 1;
    int fd = socket(((const struct sockaddr *)address)->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -errno;
    // Accepted connections inherit the receive buffer size of the listening socket.
    if (receive_buffer > 0) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) < 0 ||
        bind(fd, address, length) < 0 || listen(fd, 4096) < 0)
        return fail(fd, errno);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = data};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) return fail(fd, errno);
    return fd;
}

int probe_crowd_adopt(int fd, int no_delay, int epoll, uint64_t data) {
    const int one = 1;
    if (no_delay) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (watch(epoll, fd, data) < 0) return fail(fd, errno);
    return fd;
}

void *probe_shared_count(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return NULL;
    void *place = ftruncate(fd, sizeof(uint64_t)) == 0 ? mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    int error = errno;
    close(fd);
    errno = error;
    return place == MAP_FAILED ? NULL : place;
}

int probe_take_one(void *count, uint64_t limit) {
    return __atomic_fetch_add((uint64_t *)count, 1, __ATOMIC_RELAXED) < limit;
}

void probe_crowd_reset(int fd) {
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(fd);
}

int probe_socket_error(int fd) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 ? errno : error;
}
