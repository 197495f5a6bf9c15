// The arguments of the process.
#define _GNU_SOURCE
#include "CShims.h"
#include <stdio.h>
#include <sys/auxv.h>
#include <string.h>
#include <sys/prctl.h>

static int count;
static char **words;

#ifdef __GLIBC__
// Keeps the arguments of `main`, which glibc passes to constructors. Swift's CommandLine reads /proc/self/cmdline and
// is therefore empty without /proc.
__attribute__((constructor)) static void keep_arguments(int argc, char **argv, char **envp) {
    (void)envp;
    count = argc;
    words = argv;
}
#endif

int probe_arguments(char ***result) {
    *result = words;
    return count;
}

const char *probe_executable(void) { return (const char *)getauxval(AT_EXECFN); }

void probe_show_as(const char *name, pid_t run) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
    if (count < 1) return;
    // The arguments are contiguous in memory, and /proc/PID/cmdline shows that memory.
    char *end = words[0];
    for (int i = 0; i < count && words[i] == end; i++) end += strlen(end) + 1;
    size_t room = (size_t)(end - words[0]);
    memset(words[0], 0, room);
    snprintf(words[0], room, "%s of %d", name, (int)run);
}
