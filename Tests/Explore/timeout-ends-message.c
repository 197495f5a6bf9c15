/* Bug: a receive timeout of 20 ms in the middle of a message is taken for the end of the message.
   Why tests miss it: on a single machine, the pieces of a message are never 20 ms apart.
   Connections are served one at a time. */
#include "bed.h"

static void serve(int fd) {
    char message[256], reply[64];
    struct timeval limit = {.tv_usec = 20000};
    size_t length = 0;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    send_text(fd, "220 ready\r\n");
    for (;;) {
        ssize_t n = recv(fd, message + length, sizeof message - length, 0);
        if (n < 0 && errno == EAGAIN && (length == 0 || fixed)) continue;
        if (n == 0 || (n < 0 && errno != EAGAIN)) return;
        if (n > 0) length += (size_t)n;
        if (n > 0 && message[length - 1] != '\n') continue;
        snprintf(reply, sizeof reply, "250 message of %zu\r\n", length);
        send_text(fd, reply);
        length = 0;
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
