/* Bug: the end of the input is taken for `nothing yet`, so the only thread waits for the rest of a message that never
   arrives.
   Why tests miss it: a client sends complete messages, and announces when it leaves (with a length of 0).
   Connections are served one at a time. A message consists of a length byte and the specified number of bytes. */
#include "bed.h"

static void receive(int fd, unsigned char *data, size_t size) {
    while (size > 0) {
        ssize_t n = recv(fd, data, size, 0);
        if (n <= 0) {
            usleep(10000); /* nothing yet */
            continue;
        }
        data += n;
        size -= (size_t)n;
    }
}

static void serve(int fd) {
    unsigned char size, body[256];
    char reply[300];
    for (;;) {
        receive(fd, &size, 1);
        if (size == 0) return;
        receive(fd, body, size);
        snprintf(reply, sizeof reply, "got %.*s\r\n", size, (char *)body);
        send_text(fd, reply);
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
