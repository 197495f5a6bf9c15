// The state of the loopback interface, and notifications of its changes.
#define _GNU_SOURCE
#include "CShims.h"
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int probe_loopback_is_up(void) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strcpy(request.ifr_name, "lo");
    int result = ioctl(fd, SIOCGIFFLAGS, &request);
    int code = errno;
    close(fd);
    if (result < 0) return code == ENODEV ? 0 : -1;
    return (request.ifr_flags & IFF_UP) != 0;
}

int probe_watch_links(void) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    close(fd);
    return -1;
}

int probe_next_loopback_change(int fd) {
    char buffer[16384] __attribute__((aligned(8)));
    for (;;) {
        ssize_t n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        // Notifications were lost because the socket's queue was full, so only the current state can be returned.
        if (n < 0 && errno == ENOBUFS) return probe_loopback_is_up();
        if (n <= 0) return -1;
        int result = -1;
        unsigned left = (unsigned)n;
        for (struct nlmsghdr *header = (struct nlmsghdr *)buffer; NLMSG_OK(header, left);
             header = NLMSG_NEXT(header, left)) {
            if (header->nlmsg_type != RTM_NEWLINK && header->nlmsg_type != RTM_DELLINK) continue;
            struct ifinfomsg *link = NLMSG_DATA(header);
            if ((link->ifi_flags & IFF_LOOPBACK) == 0) continue;
            int isUp = header->nlmsg_type == RTM_NEWLINK && (link->ifi_flags & IFF_UP) != 0;
            // If one message contains several changes, "down" takes precedence.
            result = result == 0 ? 0 : isUp;
        }
        if (result >= 0) return result;
    }
}
