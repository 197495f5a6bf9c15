// The process that guards one program: the parent of the program, and the subreaper of its descendants.
#define _GNU_SOURCE
#include "guardian.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// ThreadSanitizer treats `clone` like fork, and prepares for a child with its own memory. The program's process shares
// the guard's memory until exec, so the C library's function is called directly.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...);
#define clone __clone
#endif
#endif

struct program {
    const char *directory;
    char **words;
    char **environment;
    const int *descriptors;
    int has_network;
    int uses_names;
    int code;
};

// Runs in the program's process until exec. Until exec, the process shares the guard's memory and the guard is
// suspended.
static int become_program(void *argument) {
    struct program *program = argument;
    setpgid(0, 0);
    // If the guard is killed, the kernel also kills the program.
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    for (int s = 1; s < NSIG; s++) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigaction(s, &action, NULL);
    }
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    probe_restore_descriptor_limit();
    // If the process can't enter the program's network, it ends. Outside that network, the program could reach hosts
    // that it must not reach.
    if (program->has_network && setns(program->descriptors[GUARDIAN_NETWORK], CLONE_NEWNET) < 0) {
        program->code = errno;
        _exit(127);
    }
    // Name lookup is set up before chdir, because the working directory may be below the folder over which a file
    // system is temporarily mounted.
    if (program->uses_names && probe_use_names() < 0) {
        program->code = errno;
        _exit(127);
    }
    probe_forgo_capability(PROBE_CAP_NET_RAW);
    const int *given = program->descriptors;
    if (chdir(program->directory) == 0 && dup2(given[GUARDIAN_IN], 0) >= 0 && dup2(given[GUARDIAN_OUT], 1) >= 0
        && dup2(given[GUARDIAN_ERR], 2) >= 0) {
        syscall(SYS_close_range, 3u, ~0u, 0u);
        // The payload begins with the path of the executable, followed by the arguments.
        execve(program->words[-1], program->words, program->environment);
    }
    program->code = errno;
    _exit(127);
}

// Starts the program and sets *pid. Returns 0 or errno.
static int start(const struct guardian_request *request, const int *descriptors, pid_t *pid) {
    char *strings = mmap(NULL, request->size, PROT_READ, MAP_PRIVATE, descriptors[GUARDIAN_PAYLOAD], 0);
    if (strings == MAP_FAILED) return errno;
    size_t count = 1 + (size_t)request->words + 1 + request->environment + 1;
    size_t table = count * sizeof(char *);
    const size_t stack = 64 << 10;
    char *memory = mmap(NULL, table + stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return errno;
    // The stack precedes the table of pointers, so that the end of the stack is aligned.
    char **pointers = (char **)(memory + stack);
    char *string = strings;
    size_t at = 0;
    for (uint32_t i = 0; i < 1 + request->words; i++) {
        pointers[at++] = string;
        string += strlen(string) + 1;
    }
    pointers[at++] = NULL;
    struct program program = {.directory = request->path,
                              .words = pointers + 1,
                              .environment = pointers + at,
                              .descriptors = descriptors,
                              .has_network = request->network != 0,
                              .uses_names = request->uses_names != 0};
    for (uint32_t i = 0; i < request->environment; i++) {
        pointers[at++] = string;
        string += strlen(string) + 1;
    }
    pointers[at] = NULL;
    *pid = clone(become_program, memory + stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &program);
    int code = *pid < 0 ? errno : program.code;
    if (*pid > 0 && code != 0) waitpid(*pid, NULL, 0);
    munmap(memory, table + stack);
    munmap(strings, request->size);
    return code;
}

void guardian_tell(int socket, int kind, int value) {
    struct probe_news news = {.kind = kind, .value = value, .guard = getpid(), .time = probe_monotonic_ns()};
    send(socket, &news, sizeof news, MSG_NOSIGNAL);
}

// Collects the status of children that have ended. The program itself remains a zombie until the run has received its
// status, so its process id is not reused and the run can't signal a different process.
static void reap(pid_t *main, int *told, int taken, int socket) {
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0) return;
        if (info.si_pid != *main) {
            waitpid(info.si_pid, NULL, WNOHANG);
            continue;
        }
        if (!*told) {
            // The program's exit status, in the encoding of waitpid.
            int status = info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8 : info.si_status & 0x7f;
            guardian_tell(socket, PROBE_NEWS_EXIT, status);
            *told = 1;
        }
        if (!taken) return;
        waitpid(*main, NULL, WNOHANG);
        *main = 0;
    }
}

void guardian_watch_program(const struct guardian_request *request, const int *descriptors) {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    setpgid(0, 0);
    int socket = descriptors[GUARDIAN_SOCKET];
    int signals = guardian_block_signals();
    pid_t main = 0;
    int code = signals < 0 ? errno : start(request, descriptors, &main);
    for (int i = 0; i < GUARDIAN_DESCRIPTORS; i++)
        if (i != GUARDIAN_SOCKET) close(descriptors[i]);
    if (code != 0) {
        guardian_tell(socket, PROBE_NEWS_FAILED, code);
        _exit(0);
    }
    guardian_tell(socket, PROBE_NEWS_STARTED, main);
    int told = 0;
    int taken = 0;
    for (;;) {
        struct pollfd poller[2] = {{.fd = socket, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
        poll(poller, 2, -1);
        struct signalfd_siginfo ignored;
        while (read(signals, &ignored, sizeof ignored) > 0) {}
        char word;
        ssize_t n = recv(socket, &word, 1, MSG_DONTWAIT);
        if (n == 1) taken = 1;
        // The run has closed its end of the socket, because the case or the run itself has ended.
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) break;
        reap(&main, &told, taken, socket);
    }
    if (main != 0) {
        kill(-main, SIGKILL);
        kill(main, SIGKILL);
    }
    // A caller that is waiting for the program's exit status still receives it.
    while (main != 0 && !told) {
        struct pollfd poller = {.fd = signals, .events = POLLIN};
        reap(&main, &told, 1, socket);
        if (main != 0 && poll(&poller, 1, 1000) == 0) break;
        struct signalfd_siginfo ignored;
        while (read(signals, &ignored, sizeof ignored) > 0) {}
    }
    guardian_tell(socket, PROBE_NEWS_GONE, guardian_end_all(NULL, 0, signals, 10000));
    _exit(0);
}
