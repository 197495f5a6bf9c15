// System calls that the Glibc module does not make available to Swift, in wrappers with as little code as possible.
#ifndef CSHIMS_H
#define CSHIMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Wrappers for epoll, eventfd and timerfd. They return the results of the system calls: -1 with errno on failure.
int probe_epoll_create(void);
int probe_epoll_set(int epoll, int operation, int fd, uint32_t events, uint64_t data);
// Fills data[] and events[] with up to `capacity` ready descriptors.
int probe_epoll_wait(int epoll, uint64_t *data, uint32_t *events, int capacity, int timeout_ms);
int probe_eventfd(void);
int probe_timerfd(void);
// Arms the timer for an absolute CLOCK_MONOTONIC time in nanoseconds; 0 disarms it.
int probe_timerfd_set(int fd, int64_t monotonic_ns);
// Sets the calling thread's timer slack to 1 ns.
void probe_timer_slack(void);

#define PROBE_EPOLL_ADD 1
#define PROBE_EPOLL_DEL 2
#define PROBE_EPOLL_MOD 3
#define PROBE_EPOLLIN 0x001u
#define PROBE_EPOLLPRI 0x002u
#define PROBE_EPOLLOUT 0x004u
#define PROBE_EPOLLERR 0x008u
#define PROBE_EPOLLHUP 0x010u
#define PROBE_EPOLLRDHUP 0x2000u

// TCP socket options that some C libraries do not define (tcp(7)). The first two save the SYN of a connection and
// retrieve it, and the third puts a socket into repair state.
#define PROBE_TCP_SAVE_SYN 27
#define PROBE_TCP_SAVED_SYN 28
#define PROBE_TCP_REPAIR 19

// Calls accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC.
int probe_accept(int listener);

// Calls pipe2 with O_CLOEXEC. The first descriptor is the read end.
int probe_pipe(int ends[2]);

// The following functions return the number of bytes written to the socket that have not been sent (SIOCOUTQNSD), or
// that have not been acknowledged (SIOCOUTQ).
int probe_unsent_bytes(int fd);
int probe_unacknowledged_bytes(int fd);

// Attaches a filter that drops every packet for the socket before TCP processes it (SO_ATTACH_FILTER). Returns 0, or -1
// with errno.
int probe_drop_input(int fd);

// The following functions determine which of the sockets that share a listening address receives a connection
// (SO_ATTACH_REUSEPORT_CBPF). The first socket that listened has number 0. A connection that belongs to a crowd goes to
// the socket with the number 1 + source % places, and any other connection goes to socket 0. A connection belongs to a
// crowd if its source is an IPv4 address in the network, or a port that is at least `first` and less than `behind`.
// Values are in host byte order. The functions return 0, or -1 with errno.
int probe_steer_by_address(int fd, uint32_t network, uint32_t mask, uint32_t places);
int probe_steer_by_port(int fd, int is_ipv6, uint16_t first, uint16_t behind, uint32_t places);

int64_t probe_monotonic_ns(void);
int64_t probe_realtime_ns(void);
int64_t probe_thread_cpu_ns(void);

// The guardian: a separate process that starts the run's programs and creates its temporary folders. Each program has a
// guard, which is the program's parent and the subreaper of its descendants. When the run has ended, for whatever
// reason, the guardian ends every descendant and removes the folders. The guardian's functions return errno on failure
// instead of -1.

// Starts the guardian and sets *pid. Returns the descriptor to which requests are sent, or a negative errno. The
// guardian ends when this process has closed the descriptor or has ended.
int probe_guardian_start(pid_t *pid);
// Starts a program in its own process group, with the given stdin, stdout, stderr and working directory, and with
// default signals. No other descriptor is open in the program. *news is set to a descriptor for `probe_next_news`.
// `network` is a descriptor of the program's network namespace, or -1 for the guardian's network namespace. If
// `uses_names` is set, the program looks up names as set up by `probe_use_names`.
int probe_guardian_spawn(int guardian, const char *path, char *const argv[], char *const envp[], const char *directory,
                         int in, int out, int err, int network, int uses_names, int *news);
// Creates the folder `name` in `parent`. The name may have at most 31 bytes.
int probe_guardian_make_folder(int guardian, const char *parent, const char *name, int timeout_ms);
// Notifies the guardian that the folder has been removed.
int probe_guardian_forget_folder(int guardian, const char *name);

enum {
    PROBE_NEWS_STARTED = 1, // value: the process id
    PROBE_NEWS_FAILED,      // value: the errno of a failure before the program ran
    PROBE_NEWS_EXIT,        // value: the waitpid status; the process id is not reused before probe_take_exit
    PROBE_NEWS_GONE,        // value: the number of descendants that could not be ended
};
struct probe_news {
    int32_t kind;
    int32_t value;
    // The guard's process id.
    int32_t guard;
    int32_t unused;
    // The time of the event, in nanoseconds of CLOCK_MONOTONIC.
    int64_t time;
};
// Reads the next news of a program. Returns 1 and sets *news, or 0 if there is no news yet, or -1 if there will be no
// more news.
int probe_next_news(int fd, struct probe_news *news, int timeout_ms);
void probe_take_exit(int fd);
// Ends the program and all its descendants. PROBE_NEWS_GONE is reported when they have ended. Closing the descriptor
// has the same effect.
void probe_end_guarded(int fd);

// Removes the folder `name` in `parent` with all its contents, whatever their depth and permissions. Never follows a
// link, and never enters another mount. If `inode` is not 0, the folder is removed only if it has this device and
// inode; otherwise, ESTALE is returned. Returns 0, or the errno of the failure if something could not be removed.
int probe_remove_folder(int parent, const char *name, uint64_t device, uint64_t inode);

// Sets *words to the arguments of `main`, which are known even without /proc, and returns their number. Returns 0 if
// they are not known.
int probe_arguments(char ***words);
// Returns the path by which the program was started; NULL if it is not known.
const char *probe_executable(void);
// Makes `ps` show the calling process as `NAME of PID`. The process must have only one thread.
void probe_show_as(const char *name, pid_t run);

// Reserves a name that only one process in the network namespace can have at a time. The name is released when the
// process closes the returned descriptor or ends. Returns -EADDRINUSE if another process has the name, or another
// negative errno if it can't be reserved.
int probe_reserve_name(const char *name);
// Makes glibc return freed memory to the system in a process that runs many cases. By default, glibc retains the peak
// of each of up to eight arenas per CPU. This function limits the number of arenas to the number of CPUs, and maps
// blocks larger than 1 MiB separately. Must be called while the process has only one thread.
void probe_keep_memory_small(void);
// Makes this process the subreaper of its descendants, so that it becomes the parent of their orphans.
int probe_become_subreaper(void);

// The fields of TCP_INFO that are used.
struct probe_tcp_info {
    uint8_t state;
    uint32_t retransmits;
    uint32_t unacked;
    uint32_t snd_wnd;
    uint32_t rcv_space;
};
int probe_tcp_info(int fd, struct probe_tcp_info *info);

// Functions for the calling thread's capabilities (capabilities(7)).

// Returns whether a capability is effective.
int probe_has_capability(int number);
// Returns whether a capability is permitted, even if it is not effective.
int probe_may_use_capability(int number);
// Makes a permitted capability effective or ineffective. Returns whether it was effective before.
int probe_set_capability(int number, int on);
// Prevents programs that the calling process executes as an ordinary user from inheriting the capability through the
// ambient or inheritable set.
void probe_forgo_capability(int number);
#define PROBE_CAP_NET_RAW 13

// Sets whether the process is dumpable, and returns the previous value. While a process is not dumpable, its files in
// /proc belong to root. A program with file capabilities is not dumpable by default (prctl(2), PR_SET_DUMPABLE).
int probe_set_dumpable(int on);

// Creates a network namespace and, if `with_user` is set, also a user namespace. The calling process must have only one
// thread. Returns 0, or -1 with errno.
int probe_unshare(int with_user);
// Brings `lo` up with the given MTU and without segmentation offload (TSO, GSO, GRO), so that captured segments are
// identical to the segments on the wire.
int probe_set_up_loopback(int mtu);

// Functions for the network namespaces of links. They return -1 with errno on failure.

// Moves the calling thread into a network.
int probe_enter_network(int fd);
// Moves the calling thread into a private mount namespace, in which /etc/resolv.conf names only the resolver at
// 127.0.0.53.
int probe_use_names(void);
// Tests whether `probe_use_names` succeeds. Returns 0 on success, otherwise the errno. All changes are undone.
int probe_names_trial(void);
// Creates a network with `lo` up, and returns its descriptor. The calling thread remains in its own network.
int probe_new_network(void);
// Creates a pair of interfaces: `name` in the calling thread's network, and its peer `link0` in the network
// `end_network`. The interface `name` has no offloads, no ARP and no IPv6.
int probe_make_pair(const char *name, int end_network);
// Brings up `link0` of the calling thread's network with the given addresses. The kernel sends no packets of its own
// through the interface.
int probe_set_up_end(const char *address, const char *address6);
// Opens a socket for the frames of an interface in the calling thread's network. If `receives` is set, the socket also
// receives the frames that arrive at the interface.
int probe_open_frames(const char *name, int receives);
// Reads up to `most` (at most 64) frames into `buffer`, `stride` bytes apart. Returns the number of frames read, which
// may be 0.
int probe_receive_frames(int fd, unsigned char *buffer, unsigned stride, unsigned *lengths, int most);
// Returns the number of frames that the socket has dropped since the last call.
unsigned probe_dropped_frames(int fd);
int probe_send_frame(int fd, const unsigned char *bytes, size_t length);

// Returns the abbreviated name of a signal, such as `TERM` for SIGTERM; NULL if there is no signal with the number.
const char *probe_signal_name(int number);

// Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed, so that no socket gets one of these numbers. A
// read returns the end of the file, and a write fails.
void probe_fill_standard_streams(void);

// Raises the soft limit on open files to the hard limit. Returns the number of files that may be open, at most one
// million.
int probe_raise_descriptor_limit(void);
// Restores the original soft limit on open files in the calling process, for the programs that it starts.
void probe_restore_descriptor_limit(void);
// Returns the number of open descriptors below `limit`.
int probe_open_descriptors(int limit);
// Returns whether `count` more threads can be started; at most 256 are tried.
int probe_has_threads(int count);
// Returns whether `count` more descriptors can be opened.
int probe_has_descriptors(int count);

// Determines whether SIGINT, SIGTERM and SIGHUP end the process immediately (1) or are only reported by the descriptor
// (0). Applies only to the calling thread.
void probe_interrupts_end_process(int yes);

char **probe_environment(void);

// Returns a descriptor that becomes readable when SIGINT, SIGTERM or, unless it is ignored (nohup), SIGHUP arrives. The
// signals are blocked in the calling thread and in threads that it starts later.
int probe_interrupt_descriptor(void);
// Returns the next signal from the descriptor, or 0 if no signal is pending.
int probe_next_signal(int fd);

// Functions for files relative to the descriptor of a folder. They return a descriptor, or -1 with errno.

// Opens a descriptor that only refers to the path (O_PATH), without opening a device or a pipe.
int probe_open_path(int folder, const char *path, int flags);
// Opens a path within the folder (openat2, RESOLVE_BENEATH). Fails with EXDEV if the path, or a symbolic link in it,
// points outside the folder. Fails with ENOSYS or EPERM if openat2 is not available, because the kernel is too old or a
// sandbox refuses the call.
int probe_open_beneath(int folder, const char *path, int flags);
#define PROBE_O_PATH 010000000
// A listening TCP socket: its inode number, its port, and its address in network byte order (the first four bytes for
// IPv4).
struct probe_listener {
    uint32_t inode;
    uint16_t port;
    uint8_t address[16];
};
// Writes the first `capacity` listening sockets of AF_INET or AF_INET6 in the calling thread's network namespace, and
// returns the total number; -1 with errno if the kernel does not support sock_diag(7). Unlike reading the tables in
// /proc, the call does not take longer if there are many connections.
int probe_listeners(int family, struct probe_listener *found, int capacity);
// Returns the state of the interface `lo`: 1 if it is up, 0 if it is down or missing, -1 if its state is not known.
int probe_loopback_is_up(void);
// Opens a socket that receives notifications of interface changes, or returns -1.
int probe_watch_links(void);
// Returns the next change of the loopback interface: 1 for up, 0 for down, or -1 if no change is pending.
int probe_next_loopback_change(int fd);

// Functions for capturing packets.

// Returns 1 for a loopback interface, 0 for another kind, or -1 with errno (ENODEV: no such interface).
int probe_is_loopback(const char *interface);
// Replaces the socket's filter (SO_ATTACH_FILTER) atomically, so that no packet is missed or wrongly accepted during
// the replacement. `instructions` are of type struct sock_filter, which has the layout of libpcap's bpf_insn. Returns
// 0, or -1 with errno.
int probe_attach_filter(int fd, const void *instructions, unsigned count);
// Attaches a filter that accepts no packets, so that packets for the socket are dropped before they are queued.
int probe_drop_all_input(int fd);
// Makes the kernel's garbage collector for unreachable descriptors hold a reference to the file of `fd` until the
// process has ended, so that the process does not wait for the file's release. Returns a descriptor that must stay open
// until the process ends, because closing it releases the reference, or -1 with errno. The caller remains the owner of
// `fd`.
int probe_release_after_exit(int fd);
// Sets the name that tools show for the calling thread; at most 15 bytes.
void probe_name_thread(const char *name);

// Functions for the sockets of a crowd. The sockets are non-blocking and close-on-exec. An epoll instance watches each
// socket, edge-triggered, for input, output and the end of the peer's data. The functions return a descriptor, or a
// negative errno. Each length argument is the length of a socket address; if it is 0, the system chooses the address.
int probe_crowd_connect(const void *target, unsigned target_length, const void *source, unsigned source_length, int receive_buffer,
                        int no_delay, int epoll, uint64_t data, int *is_pending, int *failed_to_bind);
// Listens as a member of an SO_REUSEPORT group. The epoll instance watches the socket for connections.
int probe_crowd_listen(const void *address, unsigned length, int receive_buffer, int epoll, uint64_t data);
// Watches an accepted socket. On failure, the socket is closed.
int probe_crowd_adopt(int fd, int no_delay, int epoll, uint64_t data);
// Returns a counter, initially 0, that processes share through a file; NULL with errno on failure. `probe_take_one`
// increments the counter, and returns 1 for the first `limit` calls and 0 for later ones.
void *probe_shared_count(const char *path);
int probe_take_one(void *count, uint64_t limit);
// Closes the socket with an RST.
void probe_crowd_reset(int fd);
// Returns the value of SO_ERROR: 0 or an errno.
int probe_socket_error(int fd);

#endif
