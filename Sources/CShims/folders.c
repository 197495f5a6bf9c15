// Removes folders by descriptor. These functions are safe after fork in a process with several threads: they allocate
// no memory and take no lock (snprintf does neither for numbers).
#define _GNU_SOURCE
#include "CShims.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The layout used by SYS_getdents64, which is also the layout of glibc's `struct dirent64`. readdir is not used,
// because it allocates memory.
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

// Opens a folder in `parent`, unless it is a link or on another mount, because file systems that a program has mounted
// in its folder must not be emptied. Returns -1 with errno on failure.
static int open_folder(int parent, const char *name) {
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS};
    int fd;
    int attempts = 0;
    do {
        fd = (int)syscall(SYS_openat2, parent, name, &how, sizeof how);
        // EAGAIN means that a folder was renamed during the call.
    } while (fd < 0 && errno == EAGAIN && ++attempts < 100);
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return fd;
    // If the kernel does not have openat2, or a sandbox refuses the call, the mount is checked after opening.
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat here, there;
    if (fd >= 0 && (fstat(parent, &here) < 0 || fstat(fd, &there) < 0 || here.st_dev != there.st_dev)) {
        close(fd);
        errno = EXDEV;
        return -1;
    }
    return fd;
}

// Grants the owner all permissions. No link is followed, because the descriptor refers to the folder itself.
static void permit(int parent, const char *name) {
    int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
    if (syscall(SYS_fchmodat2, fd, "", 0700, AT_EMPTY_PATH) < 0) {
        char path[32];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        int ignored = chmod(path, 0700);
        (void)ignored;
    }
    close(fd);
}

static int open_permitted(int parent, const char *name) {
    int fd = open_folder(parent, name);
    if (fd < 0 && errno == EACCES) {
        permit(parent, name);
        fd = open_folder(parent, name);
    }
    // Read permission is not sufficient, because entries of the folder are unlinked and renamed.
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && (status.st_mode & 0700) != 0700) {
        int ignored = fchmod(fd, 0700);
        (void)ignored;
    }
    return fd;
}

// Moves the folder `name` from `from` to `top` and gives it an unused name.
static int lift(int from, const char *name, int top, unsigned *number) {
    for (int attempt = 0, permitted = 0; attempt < 1000; attempt++) {
        char fresh[32];
        snprintf(fresh, sizeof fresh, ".lifted-%u", (*number)++);
        if (syscall(SYS_renameat2, from, name, top, fresh, 1u /* RENAME_NOREPLACE */) == 0) return 0;
        if (errno == EINVAL || errno == ENOSYS) {
            // The file system does not support RENAME_NOREPLACE. Without that flag, only an empty folder could be
            // replaced.
            if (renameat(from, name, top, fresh) == 0) return 0;
        }
        if (errno == EACCES && !permitted) {
            // Moving a folder requires write permission for the folder itself, because its parent changes.
            permit(from, name);
            permitted = 1;
            continue;
        }
        if (errno != EEXIST && errno != ENOTEMPTY) return -1;
    }
    return -1;
}

// Makes one pass over `folder`: unlinks all entries that can be unlinked, and moves each folder that is not empty up
// one level. If `top` < 0, the contents of each such folder are moved into `folder`; otherwise the folder itself is
// moved into `top`. Returns the number of changes, and sets *error to the last failure.
static int sweep(int folder, int top, unsigned *number, int *error) {
    char buffer[16384] __attribute__((aligned(8)));
    int done = 0;
    lseek(folder, 0, SEEK_SET);
    for (;;) {
        long count = syscall(SYS_getdents64, folder, buffer, sizeof buffer);
        if (count <= 0) {
            if (count < 0) *error = errno;
            return done;
        }
        for (long at = 0; at < count;) {
            struct entry *entry = (struct entry *)(buffer + at);
            at += entry->length;
            const char *name = entry->name;
            if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
            if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) {
                done++;
                continue;
            }
            int code = errno;
            if (unlinkat(folder, name, AT_REMOVEDIR) == 0) {
                done++;
                continue;
            }
            // ENOTDIR means that the entry is a file, so the error of the first attempt is the reason.
            if (errno != ENOTDIR) code = errno;
            if (code != ENOTEMPTY && code != EEXIST) {
                *error = code;
                continue;
            }
            if (top >= 0) {
                if (lift(folder, name, top, number) == 0) done++;
                else *error = errno;
                continue;
            }
            int inner = open_permitted(folder, name);
            if (inner < 0) {
                *error = errno;
                continue;
            }
            done += sweep(inner, folder, number, error);
            close(inner);
            if (unlinkat(folder, name, AT_REMOVEDIR) == 0) done++;
        }
    }
}

int probe_remove_folder(int parent, const char *name, uint64_t device, uint64_t inode) {
    struct stat status;
    // The device and inode are checked before the folder is opened, because opening it grants the owner all
    // permissions.
    if (inode != 0 && fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
        (status.st_dev != device || status.st_ino != inode))
        return ESTALE;
    int top = open_permitted(parent, name);
    if (top < 0) {
        if (errno == ENOENT) return 0;
        // If the name now refers to a link or a file, it is unlinked; the target of a link is not removed.
        if ((errno == ENOTDIR || errno == ELOOP) && unlinkat(parent, name, 0) == 0) return 0;
        return errno;
    }
    if (inode != 0 && (fstat(top, &status) < 0 || status.st_dev != device || status.st_ino != inode)) {
        close(top);
        return ESTALE;
    }
    // Folders of any depth can be removed. Each pass moves deeper folders up, so neither PATH_MAX nor the limit on open
    // descriptors limits the depth.
    unsigned number = 0;
    int error = 0;
    do {
        error = 0;
    } while (sweep(top, -1, &number, &error) > 0);
    close(top);
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return 0;
    return error != 0 ? error : errno;
}
