// Network namespaces, the veth pairs that connect them, and the packet sockets that read and write frames.
#define _GNU_SOURCE
#include "CShims.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int close_keeping_errno(int fd) {
    int code = errno;
    close(fd);
    errno = code;
    return -1;
}

// Writes a setting below /proc/sys/net in the calling thread's network. A setting that the kernel does not have is
// ignored.
static int set(const char *name, const char *value) {
    char path[160];
    snprintf(path, sizeof path, "/proc/sys/net/%s", name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT ? 0 : -1;
    ssize_t n = write(fd, value, strlen(value));
    if (n < 0) return close_keeping_errno(fd);
    close(fd);
    return 0;
}

static int set_flags(int fd, const char *name, short flags) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (ioctl(fd, SIOCGIFFLAGS, &request) < 0) return -1;
    request.ifr_flags |= flags;
    return ioctl(fd, SIOCSIFFLAGS, &request);
}

int probe_enter_network(int fd) { return setns(fd, CLONE_NEWNET); }

int probe_new_network(void) {
    int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (own < 0) return -1;
    if (unshare(CLONE_NEWNET) < 0) return close_keeping_errno(own);
    int made = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    int code = made < 0 ? errno : 0;
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (control < 0 && code == 0) code = errno;
    // TCP metrics of a peer, such as its round-trip time, must not be carried over from one case to the next.
    if (code == 0 && set("ipv4/tcp_no_metrics_save", "1") < 0) code = errno;
    // Packets to an unassigned address must not be forwarded, even if the machine is a router.
    if (code == 0 && set("ipv4/ip_forward", "0") < 0) code = errno;
    if (code == 0 && set_flags(control, "lo", IFF_UP) < 0) code = errno;
    if (control >= 0) close(control);
    if (setns(own, CLONE_NEWNET) < 0) _exit(70);  // A thread in the wrong network must not continue.
    close(own);
    if (code == 0) return made;
    if (made >= 0) close(made);
    errno = code;
    return -1;
}

// MARK: Links

// A netlink message: a header, the structure of its type, and attributes.
struct message {
    struct nlmsghdr header;
    char body[512];
    // Whether an attribute did not fit. If so, the message is not sent.
    int is_full;
};

static void begin(struct message *message, unsigned short type, unsigned short flags, const void *body, size_t length) {
    memset(message, 0, sizeof *message);
    message->header.nlmsg_len = NLMSG_LENGTH(length);
    message->header.nlmsg_type = type;
    message->header.nlmsg_flags = flags | NLM_F_REQUEST | NLM_F_ACK;
    memcpy(message->body, body, length);
}

// Appends an attribute. Returns NULL if the message has no room for it.
static struct rtattr *add(struct message *message, unsigned short type, const void *value, size_t length) {
    size_t start = NLMSG_ALIGN(message->header.nlmsg_len);
    if (length > sizeof message->body || start + RTA_SPACE(length) > sizeof message->header + sizeof message->body) {
        message->is_full = 1;
        return NULL;
    }
    struct rtattr *attribute = (struct rtattr *)((char *)message + start);
    attribute->rta_type = type;
    attribute->rta_len = RTA_LENGTH(length);
    if (length) memcpy(RTA_DATA(attribute), value, length);
    message->header.nlmsg_len = start + RTA_SPACE(length);
    return attribute;
}

// Ends a nested attribute. Its contents are the attributes that were added after it began.
static void end(struct message *message, struct rtattr *nest) {
    if (nest) nest->rta_len = (char *)message + message->header.nlmsg_len - (char *)nest;
}

static int transact(struct message *message) {
    if (message->is_full) {
        errno = EMSGSIZE;
        return -1;
    }
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -1;
    if (send(fd, message, message->header.nlmsg_len, 0) < 0) return close_keeping_errno(fd);
    char answer[4096] __attribute__((aligned(8)));
    ssize_t n = recv(fd, answer, sizeof answer, 0);
    if (n < 0) return close_keeping_errno(fd);
    close(fd);
    struct nlmsghdr *header = (struct nlmsghdr *)answer;
    if (!NLMSG_OK(header, (unsigned)n) || header->nlmsg_type != NLMSG_ERROR) {
        errno = EPROTO;
        return -1;
    }
    struct nlmsgerr *error = NLMSG_DATA(header);
    errno = -error->error;
    return error->error ? -1 : 0;
}

static const unsigned char end_address[6] = {2, 0, 0, 0, 0, 1};

static int make_pair(const char *name, int end_network) {
    struct message message;
    struct ifinfomsg blank;
    memset(&blank, 0, sizeof blank);
    begin(&message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &blank, sizeof blank);
    add(&message, IFLA_IFNAME, name, strlen(name) + 1);
    struct rtattr *information = add(&message, IFLA_LINKINFO, NULL, 0);
    add(&message, IFLA_INFO_KIND, "veth", 4);
    struct rtattr *data = add(&message, IFLA_INFO_DATA, NULL, 0);
    struct rtattr *peer = add(&message, VETH_INFO_PEER, &blank, sizeof blank);
    add(&message, IFLA_IFNAME, "link0", 6);
    add(&message, IFLA_NET_NS_FD, &end_network, sizeof end_network);
    // Both ends of the link have the same link-layer address, because with IFF_NOARP, a host uses its own address as
    // that of the next hop.
    add(&message, IFLA_ADDRESS, end_address, sizeof end_address);
    end(&message, peer);
    end(&message, data);
    end(&message, information);
    return transact(&message);
}

// Disables offloads, so that frames look as they would on a wire: packets are no longer than the MTU and have
// checksums.
static int without_offloads(int control, const char *name) {
    uint32_t commands[] = {ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        struct ethtool_value value = {.cmd = commands[i], .data = 0};
        struct ifreq request;
        memset(&request, 0, sizeof request);
        strncpy(request.ifr_name, name, IFNAMSIZ - 1);
        request.ifr_data = (char *)&value;
        // Offloads that depend on checksum offload have been disabled along with it, so EOPNOTSUPP is ignored.
        if (ioctl(control, SIOCETHTOOL, &request) < 0 && errno != EOPNOTSUPP) return -1;
    }
    return 0;
}

int probe_make_pair(const char *name, int end_network) {
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (control < 0) return -1;
    int result = set("ipv6/conf/default/disable_ipv6", "1") < 0 || make_pair(name, end_network) < 0 ||
                         without_offloads(control, name) < 0 ||
                         set_flags(control, name, IFF_UP | IFF_NOARP) < 0
                     ? -1
                     : 0;
    if (result < 0) return close_keeping_errno(control);
    close(control);
    return 0;
}

static int add_address(int family, const void *address, size_t length, unsigned char prefix) {
    struct ifaddrmsg body;
    memset(&body, 0, sizeof body);
    body.ifa_family = family;
    body.ifa_prefixlen = prefix;
    body.ifa_flags = IFA_F_NODAD | IFA_F_PERMANENT;
    body.ifa_index = if_nametoindex("link0");
    if (body.ifa_index == 0) return -1;
    struct message message;
    begin(&message, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof body);
    unsigned short types[] = {IFA_LOCAL, IFA_ADDRESS};
    for (int i = 0; i < 2; i++) add(&message, types[i], address, length);
    return transact(&message);
}

// Adds a route to the addresses of all links, including unassigned addresses. The interface's address has no subnet,
// because getaddrinfo would sort addresses within a subnet by proximity instead of keeping the order of the DNS answer.
static int add_route(const struct in_addr *source) {
    struct rtmsg body;
    memset(&body, 0, sizeof body);
    body.rtm_family = AF_INET;
    body.rtm_dst_len = 16;
    body.rtm_table = RT_TABLE_MAIN;
    body.rtm_protocol = RTPROT_BOOT;
    body.rtm_scope = RT_SCOPE_LINK;
    body.rtm_type = RTN_UNICAST;
    struct message message;
    begin(&message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof body);
    unsigned char network[4];
    memcpy(network, source, sizeof network);
    network[2] = network[3] = 0;
    int index = (int)if_nametoindex("link0");
    if (index == 0) return -1;
    add(&message, RTA_DST, network, sizeof network);
    add(&message, RTA_PREFSRC, source, sizeof *source);
    add(&message, RTA_OIF, &index, sizeof index);
    return transact(&message);
}

int probe_set_up_end(const char *address, const char *address6) {
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (control < 0) return -1;
    struct in_addr four;
    struct in6_addr six;
    int has_six = access("/proc/sys/net/ipv6/conf/link0", F_OK) == 0;
    errno = EINVAL;
    // The interface gets no link-local address and sends no router solicitations, so that only the actors' packets
    // cross the link.
    int failed = inet_pton(AF_INET, address, &four) != 1 || inet_pton(AF_INET6, address6, &six) != 1 ||
                 set("ipv6/conf/link0/addr_gen_mode", "1") < 0 || set("ipv6/conf/link0/accept_ra", "0") < 0 ||
                 set("ipv6/conf/link0/router_solicitations", "0") < 0 || set("ipv6/conf/link0/mldv2_unsolicited_report_interval", "0") < 0 ||
                 without_offloads(control, "link0") < 0 ||
                 set_flags(control, "link0", IFF_NOARP) < 0 || set_flags(control, "link0", IFF_UP) < 0 ||
                 add_address(AF_INET, &four, sizeof four, 32) < 0 || add_route(&four) < 0 ||
                 (has_six && add_address(AF_INET6, &six, sizeof six, 16) < 0);
    if (failed) return close_keeping_errno(control);
    close(control);
    return 0;
}

// MARK: Frames

int probe_open_frames(const char *name, int receives) {
    // A socket created with protocol 0 can only send.
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int on = 1, size = 16 << 20;
    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) < 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    struct sockaddr_ll place;
    memset(&place, 0, sizeof place);
    place.sll_family = AF_PACKET;
    place.sll_protocol = receives ? htons(ETH_P_ALL) : 0;
    place.sll_ifindex = if_nametoindex(name);
    if (place.sll_ifindex == 0 || bind(fd, (struct sockaddr *)&place, sizeof place) < 0) return close_keeping_errno(fd);
    return fd;
}

int probe_receive_frames(int fd, unsigned char *buffer, unsigned stride, unsigned *lengths, int most) {
    struct mmsghdr messages[64];
    struct iovec parts[64];
    if (most > 64) most = 64;
    memset(messages, 0, sizeof(struct mmsghdr) * (size_t)most);
    for (int i = 0; i < most; i++) {
        parts[i].iov_base = buffer + (size_t)i * stride;
        parts[i].iov_len = stride;
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    int n = recvmmsg(fd, messages, (unsigned)most, MSG_DONTWAIT, NULL);
    if (n < 0) return errno == EAGAIN || errno == EINTR || errno == ENETDOWN ? 0 : -1;
    for (int i = 0; i < n; i++) lengths[i] = messages[i].msg_len;
    return n;
}

unsigned probe_dropped_frames(int fd) {
    struct tpacket_stats statistics;
    socklen_t length = sizeof statistics;
    if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &length) < 0) return 0;
    return statistics.tp_drops;
}

int probe_send_frame(int fd, const unsigned char *bytes, size_t length) {
    for (;;) {
        if (send(fd, bytes, length, MSG_DONTWAIT) >= 0) return 0;
        if (errno != EINTR) return -1;
    }
}
