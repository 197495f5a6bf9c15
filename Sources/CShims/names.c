// Sets up the name lookup of a program. The program uses the run's private resolver, in a mount namespace that only the
// program and its descendants see.
#define _GNU_SOURCE
#include "CShims.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

// The files over which other files are mounted. The first one is the resolver's configuration file. The others are the
// sockets of other name services: nscd, nss-resolve and nss-mdns. Each socket that exists is covered with a file on
// which no process listens, so that the C library continues with the next service.
enum { SETTING = 0, TARGETS = 5 };
static const char *const targets[TARGETS] = {
    "/etc/resolv.conf", "/run/nscd/socket", "/var/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve", "/run/avahi-daemon/socket"};

static const char setting[] = "nameserver 127.0.0.53\noptions timeout:1 attempts:2\n";

// Folders that usually exist. A file system is temporarily mounted over the first folder on which mounting is
// permitted.
static const char *const folders[] = {"/tmp", "/run", "/mnt", "/dev"};

// Writes a file to the temporary file system, which is in memory and disappears with its last mount. Returns 0, or -1
// with errno.
static int write_setting(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    if (fd < 0) return -1;
    ssize_t n = write(fd, text, strlen(text));
    int code = n < 0 ? errno : 0;
    close(fd);
    // The file must be readable by any user that the program may switch to, regardless of the umask.
    if (code == 0 && chmod(path, 0444) < 0) code = errno;
    errno = code;
    return code ? -1 : 0;
}

// Mounts a file over an open file. The open file is given by its descriptor, because its path may be below the folder
// that is currently covered.
static int bind_over(const char *folder, const char *name, int target) {
    char from[64], to[64];
    strcpy(stpcpy(from, folder), name);
    snprintf(to, sizeof to, "/proc/self/fd/%d", target);
    return mount(from, to, NULL, MS_BIND, NULL);
}

static int put(const char *folder, const int *open_targets) {
    char setting_path[64], nothing_path[64];
    strcpy(stpcpy(setting_path, folder), "/names");
    strcpy(stpcpy(nothing_path, folder), "/nothing");
    if (write_setting(setting_path, setting) < 0 || write_setting(nothing_path, "") < 0) return -1;
    for (int i = 0; i < TARGETS; i++)
        if (open_targets[i] >= 0 && bind_over(folder, i == SETTING ? "/names" : "/nothing", open_targets[i]) < 0) return -1;
    return 0;
}

static int cover(const int *open_targets) {
    const char *folder = NULL;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && folder == NULL; i++)
        if (mount("tmpfs", folders[i], "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=64k,mode=0755") == 0) folder = folders[i];
    if (folder == NULL) return -1;
    int code = put(folder, open_targets) < 0 ? errno : 0;
    // Unmounts the temporary file system from the folder. The bind mounts keep the file system alive.
    if (umount2(folder, MNT_DETACH) < 0 && code == 0) code = errno;
    errno = code;
    return code ? -1 : 0;
}

int probe_use_names(void) {
    // Changes to the mounts must not be visible to any other process.
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) return -1;
    int open_targets[TARGETS];
    for (int i = 0; i < TARGETS; i++) open_targets[i] = open(targets[i], O_PATH | O_CLOEXEC);
    // A name service whose socket does not exist need not be covered.
    int code = open_targets[SETTING] < 0 ? ENOENT : cover(open_targets) < 0 ? errno : 0;
    for (int i = 0; i < TARGETS; i++)
        if (open_targets[i] >= 0) close(open_targets[i]);
    errno = code;
    return code ? -1 : 0;
}

static void *try_names(void *result) {
    *(int *)result = probe_use_names() < 0 ? errno : 0;
    return NULL;
}

int probe_names_trial(void) {
    // The trial runs on a separate thread, so that the mounts disappear when the thread ends.
    pthread_t thread;
    int result = 0;
    int code = pthread_create(&thread, NULL, try_names, &result);
    if (code != 0) return code;
    pthread_join(thread, NULL);
    return result;
}
