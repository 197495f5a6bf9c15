// The capabilities of the calling thread. On Linux, each thread has its own capabilities.
#define _GNU_SOURCE
#include "CShims.h"
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int get(struct __user_cap_data_struct data[2]) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return (int)syscall(SYS_capget, &header, data);
}

static int set(struct __user_cap_data_struct data[2]) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return (int)syscall(SYS_capset, &header, data);
}

int probe_set_capability(int number, int on) {
    struct __user_cap_data_struct data[2];
    if (get(data) < 0) return 0;
    uint32_t bit = 1u << (number % 32);
    struct __user_cap_data_struct *word = &data[number / 32];
    int was = (word->effective & bit) != 0;
    if (was == on || (word->permitted & bit) == 0) return was;
    if (on) word->effective |= bit;
    else word->effective &= ~bit;
    set(data);
    return was;
}

void probe_forgo_capability(int number) {
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, number, 0, 0);
    struct __user_cap_data_struct data[2];
    if (get(data) < 0) return;
    data[number / 32].inheritable &= ~(1u << (number % 32));
    set(data);
}

int probe_may_use_capability(int number) {
    struct __user_cap_data_struct data[2];
    return get(data) == 0 && (data[number / 32].permitted >> (number % 32) & 1) != 0;
}

int probe_has_capability(int number) {
    struct __user_cap_data_struct data[2];
    return get(data) == 0 && (data[number / 32].effective >> (number % 32) & 1) != 0;
}

int probe_set_dumpable(int on) {
    int was = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, on, 0, 0, 0);
    return was;
}
