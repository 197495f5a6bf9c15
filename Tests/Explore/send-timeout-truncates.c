/* Bug: a send that makes no progress for 50 ms is abandoned, so a slow reader receives the beginning of the reply and
   then an orderly end.
   Why tests miss it: a fast reader never makes the server wait.
   Connections are served one at a time. */
#include "bed.h"

static void serve(int fd) {
    char request[64], reply[12 * 1024];
    int small = 4096;
    struct timeval limit = {.tv_usec = 50000};
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    if (!fixed) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    send_text(fd, "220 ready\r\n");
    if (receive_line(fd, request, sizeof request) <= 0) return;
    for (size_t i = 0; i < sizeof reply; i++) reply[i] = "0123456789abcdef"[i % 16];
    send_all(fd, reply, sizeof reply);
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
