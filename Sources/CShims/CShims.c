#define _GNU_SOURCE
#include "CShims.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <malloc.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int probe_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int probe_epoll_set(int epoll, int operation, int fd, uint32_t events, uint64_t data) {
    struct epoll_event event = {.events = events, .data.u64 = data};
    return epoll_ctl(epoll, operation, fd, &event);
}

int probe_epoll_wait(int epoll, uint64_t *data, uint32_t *events, int capacity, int timeout_ms) {
    struct epoll_event ready[64];
    int n = epoll_wait(epoll, ready, capacity > 64 ? 64 : capacity, timeout_ms);
    for (int i = 0; i < n; i++) {
        data[i] = ready[i].data.u64;
        events[i] = ready[i].events;
    }
    return n;
}

int probe_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
int probe_timerfd(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

int probe_timerfd_set(int fd, int64_t ns) {
    struct itimerspec spec = {.it_value = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}};
    return timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

void probe_timer_slack(void) { prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); }

int probe_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

int probe_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int probe_unsent_bytes(int fd) {
    int value = 0;
    return ioctl(fd, SIOCOUTQNSD, &value) < 0 ? -1 : value;
}

int probe_unacknowledged_bytes(int fd) {
    int value = 0;
    return ioctl(fd, SIOCOUTQ, &value) < 0 ? -1 : value;
}

int probe_drop_input(int fd) {
    struct sock_filter nothing = {.code = BPF_RET | BPF_K, .k = 0};
    struct sock_fprog program = {.len = 1, .filter = &nothing};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

static int64_t clock_ns(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t probe_monotonic_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
int64_t probe_realtime_ns(void) { return clock_ns(CLOCK_REALTIME); }
int64_t probe_thread_cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

int probe_reserve_name(const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length + 1 > sizeof address.sun_path)
        return -ENAMETOOLONG;
    // A name that begins with a null byte does not refer to a file. It belongs to the network namespace, and disappears
    // with the socket.
    memcpy(address.sun_path + 1, name, length);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (bind(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

void probe_keep_memory_small(void) {
#ifdef __GLIBC__
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    mallopt(M_ARENA_MAX, cpus < 2 ? 2 : (int)cpus);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int probe_become_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

int probe_tcp_info(int fd, struct probe_tcp_info *info) {
    struct tcp_info raw;
    memset(&raw, 0, sizeof raw);
    socklen_t length = sizeof raw;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &raw, &length) < 0) return -1;
    info->state = raw.tcpi_state;
    info->retransmits = raw.tcpi_retransmits;
    info->unacked = raw.tcpi_unacked;
    info->snd_wnd = raw.tcpi_snd_wnd;
    info->rcv_space = raw.tcpi_rcv_space;
    return 0;
}

// Adds the signals that end a run: SIGINT (Ctrl-C on a terminal), SIGTERM (a request to terminate) and SIGHUP (the
// terminal was closed). SIGHUP remains ignored if `nohup` has ignored it.
static void add_interrupts(sigset_t *set) {
    struct sigaction present;
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &present) < 0 || present.sa_handler != SIG_IGN) sigaddset(set, SIGHUP);
}

int probe_interrupt_descriptor(void) {
    sigset_t set;
    add_interrupts(&set);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int probe_next_signal(int fd) {
    struct signalfd_siginfo info;
    ssize_t n = read(fd, &info, sizeof info);
    return n == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void probe_fill_standard_streams(void) {
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        // `open` uses the lowest free descriptor, which is `fd`. The file is opened read-only, so that writing a report
        // to it fails.
        int opened = open("/dev/null", O_RDONLY);
        (void)opened;
    }
}

int probe_has_descriptors(int count) {
    int taken[64];
    int n = 0;
    while (n < count && n < 64) {
        int fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
        if (fd < 0) break;
        taken[n++] = fd;
    }
    for (int i = 0; i < n; i++) close(taken[i]);
    return n == (count < 64 ? count : 64);
}

void probe_interrupts_end_process(int yes) {
    sigset_t set;
    add_interrupts(&set);
    if (yes) {
        // A shell starts a background job with SIGINT ignored. A SIGINT that is sent to the job explicitly must still
        // end the job, as it does during a run.
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        // SIGHUP is not reset, so that it remains ignored after `nohup`.
    }
    pthread_sigmask(yes ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
}

char **probe_environment(void) { return environ; }

int probe_is_loopback(const char *interface) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    if (strlen(interface) >= sizeof request.ifr_name) {
        errno = ENODEV;
        return -1;
    }
    strcpy(request.ifr_name, interface);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int result = ioctl(fd, SIOCGIFFLAGS, &request);
    int code = errno;
    close(fd);
    errno = code;
    return result < 0 ? -1 : (request.ifr_flags & IFF_LOOPBACK) != 0;
}

int probe_attach_filter(int fd, const void *instructions, unsigned count) {
    if (count > BPF_MAXINSNS) {
        errno = E2BIG;
        return -1;
    }
    struct sock_fprog program = {.len = (unsigned short)count, .filter = (struct sock_filter *)instructions};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

int probe_drop_all_input(int fd) {
    struct sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    return probe_attach_filter(fd, nothing, 1);
}

// Sends `fd` and the receiving socket's own descriptor to that socket, so that the socket's queue refers to both. When
// the process has closed its descriptor of the socket, the socket and the file of `fd` are unreachable. The kernel's
// worker thread then releases both, so the process does not wait for the grace periods of the release.
int probe_release_after_exit(int fd) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0) return -1;
    int flight[2] = {fd, pair[1]};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof flight)];
    } control;
    memset(&control, 0, sizeof control);
    char byte = 0;
    struct iovec payload = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &payload,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof flight);
    memcpy(CMSG_DATA(header), flight, sizeof flight);
    ssize_t sent = sendmsg(pair[0], &message, MSG_NOSIGNAL);
    int code = errno;
    close(pair[0]);
    if (sent >= 0) return pair[1];
    close(pair[1]);
    errno = code;
    return -1;
}

void probe_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// Replaces sigabbrev_np, which requires glibc 2.32, because the programs must also run with glibc 2.31.
const char *probe_signal_name(int number) {
    static const char *const names[] = {
        [SIGHUP] = "HUP", [SIGINT] = "INT", [SIGQUIT] = "QUIT", [SIGILL] = "ILL", [SIGTRAP] = "TRAP",
        [SIGABRT] = "ABRT", [SIGBUS] = "BUS", [SIGFPE] = "FPE", [SIGKILL] = "KILL", [SIGUSR1] = "USR1",
        [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2", [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM",
        [SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD", [SIGCONT] = "CONT", [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",
        [SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU", [SIGURG] = "URG", [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ",
        [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH", [SIGPOLL] = "POLL", [SIGPWR] = "PWR",
        [SIGSYS] = "SYS",
    };
    return number > 0 && number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}

int probe_unshare(int with_user) { return unshare(CLONE_NEWNET | (with_user ? CLONE_NEWUSER : 0)); }

int probe_set_up_loopback(int mtu) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strcpy(request.ifr_name, "lo");
    request.ifr_mtu = mtu;
    int result = ioctl(fd, SIOCSIFMTU, &request);
    uint32_t commands[] = {ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO};
    for (size_t i = 0; result == 0 && i < sizeof commands / sizeof commands[0]; i++) {
        struct ethtool_value value = {.cmd = commands[i], .data = 0};
        request.ifr_data = (char *)&value;
        result = ioctl(fd, SIOCETHTOOL, &request);
    }
    if (result == 0) {
        request.ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK;
        result = ioctl(fd, SIOCSIFFLAGS, &request);
    }
    int code = errno;
    close(fd);
    errno = code;
    return result < 0 ? -1 : 0;
}

int probe_open_path(int folder, const char *path, int flags) { return openat(folder, path, O_PATH | O_CLOEXEC | flags); }

// The structure is declared here because older systems do not have <linux/openat2.h>.
struct probe_open_how {
    uint64_t flags, mode, resolve;
};

int probe_open_beneath(int folder, const char *path, int flags) {
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
    enum { no_magic_links = 0x02, beneath = 0x08 };
    struct probe_open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = no_magic_links | beneath};
    // EAGAIN means that a folder was renamed while `..` was resolved, so the call is repeated.
    for (int attempt = 0; attempt < 100; attempt++) {
        int opened = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
        if (opened >= 0 || (errno != EAGAIN && errno != EINTR)) return opened;
    }
    return -1;
}
