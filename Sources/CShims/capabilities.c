// Capabilities of the calling thread: on Linux each thread has its own.
#define _GNU_SOURCE
#include "CShims.h"
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

static int get(struct __user_cap_data_struct data[2]) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return (int)syscall(SYS_capget, &header, data);
}

int probe_has_capability(int number) {
    struct __user_cap_data_struct data[2];
    return get(data) == 0 && (data[number / 32].effective >> (number % 32) & 1) != 0;
}
