// Determines which of the sockets that share a server's address receives a connection: the server's own socket, or the
// socket of another process that accepts the connections of a crowd.
#define _GNU_SOURCE
#include "CShims.h"
#include <linux/filter.h>
#include <sys/socket.h>

#ifndef SO_ATTACH_REUSEPORT_CBPF
#define SO_ATTACH_REUSEPORT_CBPF 51
#endif

// Offsets from the beginning of an IP header without IP options.
#define SOURCE_ADDRESS ((uint32_t)SKF_NET_OFF + 12)
#define SOURCE_PORT(is_ipv6) ((uint32_t)SKF_NET_OFF + ((is_ipv6) ? 40 : 20))

static int attach(int fd, struct sock_filter *code, unsigned short length) {
    struct sock_fprog program = {.len = length, .filter = code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program);
}

int probe_steer_by_address(int fd, uint32_t network, uint32_t mask, uint32_t places) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SOURCE_ADDRESS),
        BPF_STMT(BPF_ST, 0),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, network, 0, 4),
        BPF_STMT(BPF_LD | BPF_MEM, 0),
        BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, places),
        BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1),
        BPF_STMT(BPF_RET | BPF_A, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    return attach(fd, code, sizeof code / sizeof code[0]);
}

int probe_steer_by_port(int fd, int is_ipv6, uint16_t first, uint16_t behind, uint32_t places) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, SOURCE_PORT(is_ipv6)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 4),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, behind, 3, 0),
        BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, places),
        BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1),
        BPF_STMT(BPF_RET | BPF_A, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    return attach(fd, code, sizeof code / sizeof code[0]);
}
