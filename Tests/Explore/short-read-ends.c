/* Bug: a message is read in blocks of 16 bytes, and a block that is not full is taken for the last block of the
   message.
   Why tests miss it: the whole message has arrived when it is read, and only its last block is not full.
   Connections are served one at a time. */
#include "bed.h"

static void serve(int fd) {
    char message[1024], reply[64];
    struct pollfd more = {.fd = fd, .events = POLLIN};
    send_text(fd, "220 ready\r\n");
    for (;;) {
        size_t length = 0;
        ssize_t n;
        do {
            n = recv(fd, message + length, 16, 0);
            if (n <= 0) return;
            length += (size_t)n;
        } while ((fixed ? poll(&more, 1, 300) > 0 : n == 16) && length + 16 <= sizeof message);
        snprintf(reply, sizeof reply, "250 message of %zu\r\n", length);
        send_text(fd, reply);
    }
}

int main(int argc, char **argv) { return serve_each(argc, argv, serve); }
