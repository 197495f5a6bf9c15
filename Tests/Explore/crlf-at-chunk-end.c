/* Bug: a command ends when a chunk ends in CR LF; a CR LF that is split between two chunks is not found.
   Why tests miss it: a cut leaves the two bytes together, unless it falls exactly between them.
   Connections are served one at a time. A command that does not end is refused after 300 ms. */
#include "bed.h"

static void serve(int fd) {
    char line[512], reply[600];
    size_t length = 0;
    struct timeval limit = {.tv_usec = 300000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    send_text(fd, "220 ready\r\n");
    for (;;) {
        ssize_t n = recv(fd, line + length, sizeof line - length, 0);
        if (n < 0 && errno == EAGAIN && length > 0) {
            send_text(fd, "500 unfinished\r\n");
            return;
        }
        if (n <= 0) return;
        length += (size_t)n;
        if ((fixed ? length < 2 : n < 2) || memcmp(line + length - 2, "\r\n", 2) != 0) continue;
        snprintf(reply, sizeof reply, "250 %.*s", (int)length, line);
        send_text(fd, reply);
        length = 0;
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
