// Calls that the Glibc module does not show to Swift, each as thin as it can be.
#ifndef CSHIMS_H
#define CSHIMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// epoll, eventfd, timerfd: results as the system call's, -1 with errno.
int probe_epoll_create(void);
int probe_epoll_set(int epoll, int operation, int fd, uint32_t events, uint64_t data);
// Fills data[] and events[] with up to `capacity` ready descriptors.
int probe_epoll_wait(int epoll, uint64_t *data, uint32_t *events, int capacity, int timeout_ms);
int probe_eventfd(void);
int probe_timerfd(void);
// Absolute CLOCK_MONOTONIC time in nanoseconds; 0 disarms.
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

// Socket options of TCP that not every libc names: keep a connection's SYN, and read it (tcp(7)).
#define PROBE_TCP_SAVE_SYN 27
#define PROBE_TCP_SAVED_SYN 28

// accept4, non-blocking and close-on-exec.
int probe_accept(int listener);

// pipe2, close-on-exec: reading end first.
int probe_pipe(int ends[2]);

// Bytes written to the socket that the kernel has not sent yet (SIOCOUTQNSD), and not sent or not acknowledged (SIOCOUTQ).
int probe_unsent_bytes(int fd);
int probe_unacknowledged_bytes(int fd);

int64_t probe_monotonic_ns(void);
int64_t probe_realtime_ns(void);
int64_t probe_thread_cpu_ns(void);

// The guardian: a process beside the run that starts its programs and makes its temporary folders. Each program has a guard, its parent
// and the subreaper of all that it starts. When the run is gone, however it went, the guardian ends every descendant and removes
// the folders. Everything here fails with an errno and not with -1.

// Starts it. Returns the descriptor that stands for it, with *pid filled, or a negative errno. It ends when this process closes
// the descriptor or is gone.
int probe_guardian_start(pid_t *pid);
// Starts a program in a process group of its own with stdin, stdout and stderr given, signals reset and a folder to run in; no other
// descriptor is open in it. *news is a descriptor from which `probe_next_news` reads what comes of it.
int probe_guardian_spawn(int guardian, const char *path, char *const argv[], char *const envp[], const char *directory,
                         int in, int out, int err, int *news);
// Makes a folder `name` (31 bytes at most) in `parent`.
int probe_guardian_make_folder(int guardian, const char *parent, const char *name, int timeout_ms);
// The folder has been removed.
int probe_guardian_forget_folder(int guardian, const char *name);

enum {
    PROBE_NEWS_STARTED = 1, // value: the process id
    PROBE_NEWS_FAILED,      // value: errno of what went wrong before the program ran
    PROBE_NEWS_EXIT,        // value: its status as waitpid gives it; the id is not given to another process before probe_take_exit
    PROBE_NEWS_GONE,        // value: how many of its descendants could not be ended; 0: there is none left
};
struct probe_news {
    int32_t kind;
    int32_t value;
    // The guard's process id.
    int32_t guard;
    int32_t unused;
    // CLOCK_MONOTONIC, when it happened.
    int64_t time;
};
// 1 with *news filled, 0 where there is nothing yet, -1 when nothing will come any more.
int probe_next_news(int fd, struct probe_news *news, int timeout_ms);
void probe_take_exit(int fd);
// Ends the program and all its descendants; PROBE_NEWS_GONE tells when that is done. So does closing the descriptor.
void probe_end_guarded(int fd);

// Removes the folder `name` of `parent` with all that is in it, whatever its depth and its permissions. Never follows a link and never
// enters another mount. With `inode` != 0 only if it is that folder (ESTALE: it is another one). 0, or errno of what stays.
int probe_remove_folder(int parent, const char *name, uint64_t device, uint64_t inode);

// The arguments of `main`, also where there is no /proc. 0: not known.
int probe_arguments(char ***words);
// The path by which the program was started; NULL: not known.
const char *probe_executable(void);
// What `ps` shows for the calling process, which must have one thread: `NAME of PID`.
void probe_show_as(const char *name, pid_t run);

// A name that only one process of the network namespace has at a time, until it closes the descriptor or ends.
// -EADDRINUSE where another one has it, another negative number where it can't be had for other reasons.
int probe_reserve_name(const char *name);
// Memory that a process of many cases has given back goes back to the system: glibc would keep the largest that each of
// up to eight arenas a CPU has ever held. As many arenas as CPUs, and what is larger than 1 MiB is mapped by itself.
// Before there is a second thread.
void probe_keep_memory_small(void);
// Orphans of what this process started become its children.
int probe_become_subreaper(void);

// TCP_INFO facts.
struct probe_tcp_info {
    uint8_t state;
    uint32_t retransmits;
    uint32_t unacked;
    uint32_t snd_wnd;
    uint32_t rcv_space;
};
int probe_tcp_info(int fd, struct probe_tcp_info *info);

// Capabilities (capabilities(7)) of the calling thread: whether one is effective.
int probe_has_capability(int number);
// Whether it is permitted, effective or not.
int probe_may_use_capability(int number);
// Makes it effective, where it is permitted, or not. Returns whether it was before.
int probe_set_capability(int number, int on);
// Programs that the calling process executes as an ordinary user do not get it from there (ambient, inheritable).
void probe_forgo_capability(int number);
#define PROBE_CAP_NET_RAW 13

// Namespaces. 0, or -1 with errno. The calling process must have one thread.
// New user and network namespaces (`with_user`), or a network namespace alone.
int probe_unshare(int with_user);
// Brings `lo` up with this MTU and segmentation offload (TSO, GSO, GRO) off, so that segments are what is on the wire.
int probe_set_up_loopback(int mtu);

// `TERM` for SIGTERM; NULL for a number that is no signal.
const char *probe_signal_name(int number);

// `environ`.
// Opens what is closed of the descriptors 0, 1 and 2, so that no socket takes their place: reading says end of file, writing fails.
void probe_fill_standard_streams(void);

// Raises the soft limit of open files to the hard one. Returns how many may be open (a million at most).
int probe_raise_descriptor_limit(void);
// Gives the calling process back what it had before; for programs that are started.
void probe_restore_descriptor_limit(void);
// How many of the descriptors below `limit` are open.
int probe_open_descriptors(int limit);
// Whether so many more threads can be started, 256 at most.
int probe_has_threads(int count);
// Whether so many more descriptors can be opened.
int probe_has_descriptors(int count);

// Lets SIGINT and SIGTERM end the process at once (1), or keeps them for the descriptor (0); for the calling thread.
void probe_interrupts_end_process(int yes);

char **probe_environment(void);

// A descriptor that becomes readable when SIGINT or SIGTERM comes; both are blocked in the calling thread (and so in those it
// starts afterwards).
int probe_interrupt_descriptor(void);
// The next signal from it, or 0.
int probe_next_signal(int fd);

// Files by the descriptor of a folder; a descriptor, or -1 with errno.
// A descriptor that only stands for a place (O_PATH): nothing is opened by it, no device and no pipe.
int probe_open_path(int folder, const char *path, int flags);
// A path that never leaves the folder, by symbolic links neither (openat2, RESOLVE_BENEATH): EXDEV where it would. ENOSYS or EPERM
// where the call isn't to be had (an old kernel, a sandbox).
int probe_open_beneath(int folder, const char *path, int flags);
#define PROBE_O_PATH 010000000
// The interface `lo`: 1 up, 0 down or not there, -1 not known.
int probe_loopback_is_up(void);
// A socket that hears of changes of interfaces, or -1.
int probe_watch_links(void);
// The next change of the loopback interface: 1 up, 0 down, -1 none.
int probe_next_loopback_change(int fd);

// Capture. 1 loopback, 0 another kind, -1 with errno (ENODEV: no such interface).
int probe_is_loopback(const char *interface);
// Replaces the socket's filter (SO_ATTACH_FILTER) in one step, so that no packet slips by or is lost meanwhile.
// `instructions` are struct sock_filter, the layout of libpcap's bpf_insn. 0, or -1 with errno.
int probe_attach_filter(int fd, const void *instructions, unsigned count);
// A filter that accepts nothing: what arrives at the socket is dropped before it is queued.
int probe_drop_all_input(int fd);
// Makes the kernel's collector of unreachable descriptors hold a reference to what `fd` stands for until the process has
// gone, so that its end does not wait for the release. Returns a descriptor to keep open until then (closing it undoes
// this), or -1 with errno. `fd` stays open and is the caller's.
int probe_release_after_exit(int fd);
// Names the calling thread, for tools that list threads; 15 bytes at most.
void probe_name_thread(const char *name);

#endif
