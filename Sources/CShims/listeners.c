// Lists the listening TCP sockets of the calling thread's network namespace, using sock_diag(7).
#define _GNU_SOURCE
#include "CShims.h"
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int request(int fd, int family) {
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 body;
    } message = {
        .header = {.nlmsg_len = sizeof message, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .body = {.sdiag_family = (__u8)family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = 1 << TCP_LISTEN},
    };
    return send(fd, &message, sizeof message, 0) < 0 ? -1 : 0;
}

// Receives the next datagram of the answer. Returns `count` plus the number of sockets in the datagram, or -1 with
// errno. Sets `isDone` after the last datagram.
static int receive(int fd, struct probe_listener *found, int capacity, int count, int *isDone) {
    char buffer[32768] __attribute__((aligned(8)));
    // This call never waits: the kernel queues the first datagram when it receives the request, and each further
    // datagram when it delivers the previous one.
    ssize_t received = recv(fd, buffer, sizeof buffer, MSG_TRUNC | MSG_DONTWAIT);
    if (received < 0) return errno == EINTR ? count : -1;
    if (received == 0 || (size_t)received > sizeof buffer) {
        errno = EMSGSIZE;
        return -1;
    }
    unsigned left = (unsigned)received;
    for (struct nlmsghdr *header = (struct nlmsghdr *)buffer; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
        if (header->nlmsg_type == NLMSG_DONE) {
            *isDone = 1;
            break;
        }
        if (header->nlmsg_type == NLMSG_ERROR) {
            int code = 0;
            if (header->nlmsg_len >= NLMSG_LENGTH(sizeof code)) memcpy(&code, NLMSG_DATA(header), sizeof code);
            errno = code < 0 ? -code : EPROTO;
            return -1;
        }
        if (header->nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg))) continue;
        const struct inet_diag_msg *socket = NLMSG_DATA(header);
        if (count < capacity) {
            found[count].inode = socket->idiag_inode;
            found[count].port = ntohs(socket->id.idiag_sport);
            memcpy(found[count].address, socket->id.idiag_src, sizeof found[count].address);
        }
        count++;
    }
    return count;
}

int probe_listeners(int family, struct probe_listener *found, int capacity) {
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0) return -1;
    int count = request(fd, family);
    for (int isDone = 0; count >= 0 && !isDone;) count = receive(fd, found, capacity, count, &isDone);
    int code = errno;
    close(fd);
    errno = code;
    return count;
}
